"""A run's short name: "baseline", "steps 5", "steps 2, LL"."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from specttui.events import Launch, SpecSettings
from specttui.launch import flags
from specttui.launch.argv import CommandLine
from specttui.launch.edits import Preset, SetEnv, SetFlag
from specttui.launch.overrides import changed_variables
from specttui.launch.presets import PRESETS, is_active
from specttui.launch.redact import is_secret_flag, is_secret_variable
from specttui.launch.secret_shapes import HIDDEN
from specttui.launch.settings import Config, effective_command, grouping_algorithm, spec_settings

#: A label longer than this is cut down to its first parts.
LONGEST = 24
_IN_SPECULATION = frozenset(
    {flags.ALGORITHM, flags.NUM_STEPS, flags.EAGLE_TOPK, flags.NUM_DRAFT_TOKENS, flags.DRAFT_MODEL}
)
_SHORT_NAMES = {
    flags.TENSOR: "TP",
    flags.DATA: "DP",
    flags.PIPELINE: "PP",
    flags.EXPERT: "EP",
    "--mem-fraction-static": "mem",
    flags.PAGE_SIZE: "page",
    flags.MAX_RUNNING: "max running",
}


def label(launch: Launch, base: Launch | None = None, config: Config | None = None) -> str:
    """The short name of a configuration.

    Args:
        launch: The configuration.
        base: The one it is a change of, the same for all runs of a session so that equal configurations
            have equal names. With it every difference is named; without it only speculation and the
            variables of bundled presets, so that a server's usual settings do not crowd the label.
        config: The values of the `--config` file, where there is one.

    Returns:
        At most `LONGEST` characters where the parts allow it; what does not fit is counted ("+2").

    Raises:
        LaunchError: A command cannot be read.
    """
    parts = list(_speculation_parts(launch, base, config))
    parts += _preset_parts(launch)
    if base is not None:
        parts += _difference_parts(launch, base, config)
    return _fitted(list(dict.fromkeys(parts)))


def _fitted(parts: list[str]) -> str:
    """The parts joined; when too long, the first two at least and a count of the rest."""
    for count in range(len(parts), 1, -1):
        rest = len(parts) - count
        text = ", ".join(parts[:count]) + (f", +{rest}" if rest else "")
        if len(text) <= LONGEST or count == 2:
            return text
    return parts[0]


def _speculation_parts(launch: Launch, base: Launch | None, config: Config | None) -> Iterator[str]:
    settings = spec_settings(launch, config)
    if settings.algorithm is None:
        yield "baseline"
        return
    yield from _count_parts(settings)
    if base is None:
        return
    old = spec_settings(base, config)
    if old.algorithm and grouping_algorithm(old.algorithm) != grouping_algorithm(settings.algorithm):
        yield settings.algorithm
    if (
        old.draft_model_path
        and settings.draft_model_path
        and old.draft_model_path != settings.draft_model_path
    ):
        yield f"draft {PurePosixPath(settings.draft_model_path).name}"


def _count_parts(settings: SpecSettings) -> Iterator[str]:
    if settings.num_steps is None:
        yield str(settings.algorithm)
        return
    yield f"steps {settings.num_steps}"
    if settings.eagle_topk not in {None, 1}:
        yield f"topk {settings.eagle_topk}"
        if settings.num_draft_tokens is not None:
            yield f"draft {settings.num_draft_tokens}"


def _preset_parts(launch: Launch) -> list[str]:
    return [each.short for each in PRESETS if _is_of_environment(each) and is_active(each, launch)]


def _is_of_environment(preset: Preset) -> bool:
    return any(isinstance(edit, SetEnv) for edit in preset.edits)


def _difference_parts(launch: Launch, base: Launch, config: Config | None) -> Iterator[str]:
    for name, value in changed_variables(base, launch).items():
        yield _variable_part(name, value, launch)
    old, new = effective_command(base, config), effective_command(launch, config)
    for name in dict.fromkeys(option.name for option in (*new.options, *old.options) if option.name):
        if name not in _IN_SPECULATION | {flags.CONFIG} and _differs(name, old, new):
            part = _flag_part(name, old, new)
            if part:
                yield part


def _differs(name: str, old: CommandLine, new: CommandLine) -> bool:
    return (old.has(name), old.value(name)) != (new.has(name), new.value(name))


def _variable_part(name: str, value: str | None, launch: Launch) -> str:
    """A preset's word where one set or cleared the variable, else the variable itself."""
    touching = [each for each in PRESETS if any(getattr(edit, "name", "") == name for edit in each.edits)]
    active = next((each.short for each in touching if is_active(each, launch)), None)
    if active:
        return active
    short = name.removeprefix("NCCL_").removeprefix("SGLANG_")
    if value is None:
        return touching[-1].short if touching else f"no {short}"
    return f"{short}={HIDDEN if is_secret_variable(name) else value}"


def _flag_part(name: str, old: CommandLine, new: CommandLine) -> str:
    if flags.is_speculative(name) and bool(old.value(flags.ALGORITHM)) != bool(new.value(flags.ALGORITHM)):
        return ""  # "baseline" or the steps say it
    touching = [each for each in PRESETS if any(getattr(edit, "name", "") == name for edit in each.edits)]
    value = new.value(name)
    for each in touching:
        if new.has(name) and SetFlag(name, value) in each.edits:
            return each.short
    if not new.has(name) and touching:
        return touching[-1].short
    short = _SHORT_NAMES.get(name, name.removeprefix("--"))
    if not new.has(name):
        return f"no {short}"
    if value is None:
        return short
    return f"{short} {HIDDEN if is_secret_flag(name) else value}"

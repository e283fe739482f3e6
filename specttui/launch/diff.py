"""What a change does to a launch: lines before and after, the changes in words, notes and warnings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from specttui.events import Launch, SpecSettings
from specttui.launch import flags
from specttui.launch.argv import Option
from specttui.launch.coupling import coupling_notes
from specttui.launch.edits import DiffLine, LaunchDiff
from specttui.launch.label import label
from specttui.launch.overrides import changed_variables, errors, meanings, warnings
from specttui.launch.redact import hide_in_text, is_secret_flag, is_secret_variable, redact
from specttui.launch.render import command_lines, env_lines, quoted
from specttui.launch.secret_shapes import HIDDEN
from specttui.launch.settings import Config, effective_command, spec_settings

_WORDS = {flags.NUM_STEPS: "steps", flags.EAGLE_TOPK: "top-k", flags.NUM_DRAFT_TOKENS: "draft tokens"}


def describe(
    before: Launch,
    after: Launch,
    *,
    sglang_version: str = "",
    config: Config | None = None,
    base: Launch | None = None,
) -> LaunchDiff:
    """Show what a change does before it is run.

    Args:
        before: The launch as it runs.
        after: The launch that would be started.
        sglang_version: The server's version, which decides on some warnings; "" when unknown.
        config: The values of the `--config` file, where there is one and it was read.
        base: The launch that run labels refer to, usually the session's first; `before` if not given.

    Returns:
        Lines without secrets (environment first, then the command, one flag per line), the changes in words,
        the coupled rules that were applied, warnings and errors, what NCCL makes of changed values, and the
        label of the run it would be. The launches in it are those given, secrets included.

    Raises:
        LaunchError: One of the commands cannot be read.
    """
    keep = changed_variables(before, after).keys()
    shown_before, shown_after = redact(before, keep), redact(after, keep)
    env = _diff_lines(env_lines(shown_before, keep), env_lines(shown_after, keep))
    command = _diff_lines(command_lines(shown_before), command_lines(shown_after))
    return LaunchDiff(
        before=before,
        after=after,
        lines=(*env, *command),
        changes=changes(before, after, config),
        notes=coupling_notes(before, after, config),
        warnings=warnings(before, after, config=config, sglang_version=sglang_version),
        label=label(after, base or before, config),
        meanings=meanings(before, after),
        errors=errors(before, after),
    )


def changes(before: Launch, after: Launch, config: Config | None = None) -> tuple[str, ...]:
    """The changes in words, speculation first, then flags, then variables; secrets are not told."""
    return (
        *_speculation_changes(before, after, config),
        *_flag_changes(before, after, config),
        *_variable_changes(before, after),
    )


def _diff_lines(before: Sequence[str], after: Sequence[str]) -> Iterator[DiffLine]:
    matcher = SequenceMatcher(a=before, b=after, autojunk=False)
    for tag, start_a, end_a, start_b, end_b in matcher.get_opcodes():
        if tag == "equal":
            yield from (DiffLine("keep", text) for text in before[start_a:end_a])
            continue
        yield from (DiffLine("remove", text) for text in before[start_a:end_a])
        yield from (DiffLine("add", text) for text in after[start_b:end_b])


def _speculation_changes(before: Launch, after: Launch, config: Config | None) -> Iterator[str]:
    old, new = spec_settings(before, config), spec_settings(after, config)
    if old.algorithm and not new.algorithm:
        yield "baseline: speculative flags removed"
    elif new.algorithm and not old.algorithm:
        yield f"speculation: {summary(new)}"
    elif old.algorithm != new.algorithm:
        yield f"algorithm {old.algorithm} -> {new.algorithm}"


def summary(settings: SpecSettings) -> str:
    """Speculative settings in a few words: "EAGLE3, steps 2, top-k 1, draft tokens 3", or "none"."""
    counts = (settings.num_steps, settings.eagle_topk, settings.num_draft_tokens)
    named = (
        f"{word} {count}" for word, count in zip(_WORDS.values(), counts, strict=True) if count is not None
    )
    return ", ".join([settings.algorithm, *named]) if settings.algorithm else "none"


def _flag_changes(before: Launch, after: Launch, config: Config | None) -> Iterator[str]:
    old, new = effective_command(before, config), effective_command(after, config)
    switched = bool(old.value(flags.ALGORITHM)) != bool(new.value(flags.ALGORITHM))
    for name in dict.fromkeys(option.name for option in (*old.options, *new.options) if option.name):
        if name == flags.ALGORITHM or (switched and flags.is_speculative(name)):
            continue  # told in one sentence already
        was, now = old.find(name), new.find(name)
        if was is None or now is None or was.values != now.values:
            yield _flag_change(_WORDS.get(name, name), was, now)


def _flag_change(word: str, was: Option | None, now: Option | None) -> str:
    if now is None:
        return f"{word} removed"
    if was is None:
        return f"{word} {_option_text(now)}" if now.values else f"{word} added"
    return f"{word} {_option_text(was)} -> {_option_text(now)}"


def _option_text(option: Option) -> str:
    if option.value is None:
        return "on"
    return HIDDEN if is_secret_flag(option.name) else _text(option.value)


def _variable_changes(before: Launch, after: Launch) -> Iterator[str]:
    for name, now in changed_variables(before, after).items():
        was = before.env.get(name)
        if now is None:
            yield f"{name} unset"
        elif is_secret_variable(name):
            yield f"{name} {HIDDEN}"
        elif was is None:
            yield f"{name} {_text(now)}"
        else:
            yield f"{name} {_text(was)} -> {_text(now)}"


def _text(value: str) -> str:
    return quoted(hide_in_text(value))

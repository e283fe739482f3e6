"""What a launch asks for: speculative settings, address, parallelism, model; and what the server makes of it.

Every reader takes `config`, the values of the file given with `--config` (SGLang 0.5.3 and newer), which the
caller has read; the command line wins over it, as in SGLang.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from specttui.errors import LaunchError
from specttui.events import Launch, SpecSettings
from specttui.launch import flags
from specttui.launch.argv import CommandLine, Option, parse

#: The values of a `--config` file, keys with dashes or underscores.
Config = Mapping[str, object]

#: SGLang's defaults of `--host` and `--port`, all releases.
DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 30000

SPEC_V2_VARIABLE = "SGLANG_ENABLE_SPEC_V2"


@dataclass(frozen=True, slots=True)
class Parallelism:
    """Sizes of tensor, data, pipeline and expert parallelism, as given on the command line."""

    tensor: int = 1
    data: int = 1
    pipeline: int = 1
    expert: int = 1


def effective_command(launch: Launch, config: Config | None = None) -> CommandLine:
    """The command with the `--config` file's values in front of its own, where its own win.

    Raises:
        LaunchError: The command cannot be read.
    """
    command = parse(launch.argv)
    if not config or not command.has(flags.CONFIG):
        return command
    return CommandLine(command.prefix, (*config_options(config), *command.options), command.serves)


def config_options(config: Config) -> tuple[Option, ...]:
    """A `--config` file's values as flags: true is a bare flag, false is none, a list is several values."""
    found = (_config_option(f"--{key.replace('_', '-')}", value) for key, value in config.items())
    return tuple(option for option in found if option)


def _config_option(name: str, value: object) -> Option | None:
    if value is None or value is False or value == []:
        return None
    if value is True:
        return Option(flags.canonical(name), (name,))
    values = tuple(str(item) for item in value) if isinstance(value, list | tuple) else (str(value),)
    return Option(flags.canonical(name), (name, *values), values)


def config_file(launch: Launch) -> str | None:
    """The path given with `--config`, or None."""
    return parse(launch.argv).value(flags.CONFIG)


def model_path(launch: Launch, config: Config | None = None) -> str:
    """The target model's path or name, "" when none is given."""
    command = effective_command(launch, config)
    named = command.value(flags.MODEL_PATH)
    if named is not None:
        return named
    positional = (option.values[0] for option in command.options if not option.name and option.values)
    return next(positional, "") if command.serves else ""


def server_host(launch: Launch, config: Config | None = None) -> str:
    """The address the server listens on."""
    return effective_command(launch, config).value(flags.HOST) or DEFAULT_HOST


def server_port(launch: Launch, config: Config | None = None) -> int:
    """The port the server listens on.

    Raises:
        LaunchError: `--port` is not a number.
    """
    return _integer(effective_command(launch, config), flags.PORT) or DEFAULT_PORT


def parallelism(launch: Launch, config: Config | None = None) -> Parallelism:
    """The sizes of each kind of parallelism.

    Raises:
        LaunchError: One of them is not a number.
    """
    command = effective_command(launch, config)
    names = (flags.TENSOR, flags.DATA, flags.PIPELINE, flags.EXPERT)
    tensor, data, pipeline, expert = (_integer(command, name) or 1 for name in names)
    return Parallelism(tensor, data, pipeline, expert)


def spec_settings(launch: Launch, config: Config | None = None) -> SpecSettings:
    """The speculative settings as asked for; what is not given is None.

    `overlap` is what the launch says about the overlapped worker: False with `--disable-overlap-schedule`,
    else what `SGLANG_ENABLE_SPEC_V2` or `--enable-beta-spec` say, else None (the release's default).

    Raises:
        LaunchError: The command cannot be read, or a count is not a number.
    """
    command = effective_command(launch, config)
    algorithm = command.value(flags.ALGORITHM)
    return SpecSettings(
        algorithm=algorithm.upper() if algorithm else None,
        num_steps=_integer(command, flags.NUM_STEPS),
        eagle_topk=_integer(command, flags.EAGLE_TOPK),
        num_draft_tokens=_integer(command, flags.NUM_DRAFT_TOKENS),
        draft_model_path=command.value(flags.DRAFT_MODEL),
        overlap=_overlap(command, launch.env),
    )


def _overlap(command: CommandLine, env: Mapping[str, str]) -> bool | None:
    if command.has(flags.NO_OVERLAP):
        return False
    if command.has(flags.BETA_SPEC):
        return True
    given = env.get(SPEC_V2_VARIABLE, "").strip().lower()
    return None if not given else given in {"1", "true", "yes", "y"}


def _integer(command: CommandLine, name: str) -> int | None:
    text = command.value(name)
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        raise LaunchError(
            f"{name} is not a whole number", cause=f"got {text!r}", remedy="give a whole number"
        ) from None


def grouping_algorithm(algorithm: str | None) -> str | None:
    """The algorithm for comparing runs: NEXTN is rewritten to EAGLE by the server, so they are the same."""
    return "EAGLE" if algorithm == "NEXTN" else algorithm


def expected_effective(requested: SpecSettings) -> SpecSettings:
    """What the server makes of the settings by rules it applies silently.

    NEXTN becomes EAGLE; DFLASH drafts one block, steps and top-k are 1 whatever was asked; with top-k 1 an
    EAGLE-like algorithm verifies steps + 1 tokens (SGLang 0.4.5 and newer). What the server logs or answers
    in /server_info is better evidence where it is at hand.
    """
    changed: dict[str, object] = {"algorithm": grouping_algorithm(requested.algorithm)}
    if requested.algorithm == "DFLASH":
        changed |= {"num_steps": 1, "eagle_topk": 1}
    elif requested.algorithm in flags.EAGLE_LIKE and requested.eagle_topk == 1 and requested.num_steps:
        changed["num_draft_tokens"] = requested.num_steps + 1
    return requested.model_copy(update=changed)


def changed_settings(requested: SpecSettings, effective: SpecSettings) -> tuple[str, ...]:
    """What the server changed of the requested settings, in words; empty when it did as asked.

    Only what was asked for counts: a default that the server filled in is no change.
    """
    words = {
        "algorithm": "algorithm",
        "num_steps": "steps",
        "eagle_topk": "top-k",
        "num_draft_tokens": "draft tokens",
    }
    pairs = ((word, getattr(requested, name), getattr(effective, name)) for name, word in words.items())
    return tuple(
        f"{word} {asked} -> {got}" for word, asked, got in pairs if None not in {asked, got} and asked != got
    )

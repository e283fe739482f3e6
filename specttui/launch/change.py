"""Apply edits to a launch: flags, environment, baseline, and speculation taken over from another launch."""

from __future__ import annotations

import re
from collections.abc import Sequence

from specttui.errors import LaunchError
from specttui.events import Launch
from specttui.launch import flags
from specttui.launch.argv import CommandLine, parse
from specttui.launch.coupling import check_count, coupled
from specttui.launch.edits import Baseline, Edit, RemoveFlag, SetEnv, SetFlag, UnsetEnv
from specttui.launch.settings import Config, config_options, spec_settings

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_FLAG = re.compile(r"--[A-Za-z0-9][\w.-]*\Z")


def apply(launch: Launch, edits: Sequence[Edit], config: Config | None = None) -> Launch:
    """The launch with edits applied in order, and the coupled rules after them.

    Args:
        launch: The launch to change; it stays as it is.
        edits: What to change. An edit that changes nothing is allowed.
        config: The values of the launch's `--config` file, where it has one. A flag that is to go and that
            stands in the file can only go by replacing `--config` with the file's other values, so that is
            what happens.

    Raises:
        LaunchError: The command cannot be read, or an edit names no flag or variable or has a value that no
            server accepts.
    """
    command, env = parse(launch.argv), dict(launch.env)
    if config and any(_removes_from(edit, config) for edit in edits):
        command = _with_config_written_out(command, config)
        config = None
    for edit in edits:
        match edit:
            case SetEnv() | UnsetEnv():
                _change_variable(env, edit)
            case _:
                command = _change_flag(command, edit)
    changed = launch.model_copy(update={"argv": command.argv, "env": env})
    return _with_coupling(changed, command, edits, config)


def speculation_edits(template: Launch, config: Config | None = None) -> tuple[Edit, ...]:
    """The edits that give any launch the speculation of another: how it comes back after a baseline run.

    Raises:
        LaunchError: The template decodes without speculation itself.
    """
    if spec_settings(template, config).is_baseline:
        raise LaunchError(
            "There is no speculative launch to take the settings from",
            remedy="give the algorithm and the draft model as flags",
        )
    options = (*config_options(config or {}), *parse(template.argv).options)
    found = {option.name: option.value for option in options if flags.is_speculative(option.name)}
    return tuple(SetFlag(name, value) for name, value in found.items())


def with_speculation(launch: Launch, template: Launch, config: Config | None = None) -> Launch:
    """The launch with the speculation of another one; see `speculation_edits`."""
    return apply(launch, speculation_edits(template, config))


def _change_flag(command: CommandLine, edit: SetFlag | RemoveFlag | Baseline) -> CommandLine:
    if isinstance(edit, Baseline):
        return command.without(flags.is_speculative)
    if not _FLAG.match(edit.name):
        raise LaunchError(f"{edit.name!r} is no flag", remedy="write it with two dashes, as in --page-size")
    if isinstance(edit, RemoveFlag):
        return command.removed(edit.name)
    _refuse_nul(edit.name, edit.value or "")
    check_count(edit.name, edit.value)
    return command.with_flag(edit.name, edit.value)


def _change_variable(env: dict[str, str], edit: SetEnv | UnsetEnv) -> None:
    if not _VARIABLE.match(edit.name):
        raise LaunchError(
            f"{edit.name!r} is no name of an environment variable",
            remedy="use letters, digits and underscores, as in NCCL_PROTO",
        )
    if isinstance(edit, UnsetEnv):
        env.pop(edit.name, None)
        return
    _refuse_nul(edit.name, edit.value)
    env[edit.name] = edit.value


def _refuse_nul(name: str, value: str) -> None:
    if "\0" in value:
        raise LaunchError(f"The value of {name} holds a zero byte", remedy="no program can be given one")


def _removes_from(edit: Edit, config: Config) -> bool:
    """True when an edit removes something that the config file sets."""
    names = {option.name for option in config_options(config)}
    if isinstance(edit, Baseline):
        return any(flags.is_speculative(name) for name in names)
    return isinstance(edit, RemoveFlag) and flags.canonical(edit.name) in names


def _with_config_written_out(command: CommandLine, config: Config) -> CommandLine:
    """The command with the config file's values as flags of its own instead of `--config`."""
    written = command.removed(flags.CONFIG)
    for option in config_options(config):
        if not written.has(option.name):
            written = written.with_option(option)
    return written


def _with_coupling(
    launch: Launch, command: CommandLine, edits: Sequence[Edit], config: Config | None
) -> Launch:
    edited = {flags.canonical(edit.name) for edit in edits if isinstance(edit, SetFlag | RemoveFlag)}
    for name, value in coupled(spec_settings(launch, config), edited).items():
        command = command.with_flag(name, str(value))
    return launch.model_copy(update={"argv": command.argv})

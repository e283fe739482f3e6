"""What the settings file may hold: one model per table; unknown keys and wrong types are refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from specttui.config.values import as_flags, as_sudo, as_variables, as_words
from specttui.events import Phase
from specttui.launch.edits import Edit, Preset, RemoveFlag, SetEnv, SetFlag, UnsetEnv
from specttui.probe.targets import TARGETS, Target, custom_target

#: When files are written through sudo: never, where it asks nothing, or also with a password.
SudoMode = Literal["no", "auto", "yes"]
Words = Annotated[tuple[str, ...], BeforeValidator(as_words)]
Names = tuple[Annotated[str, Field(min_length=1)], ...]
Port = Annotated[int, Field(ge=1, le=65535)]


class Table(BaseModel):
    """Base of every table: immutable, and nothing is guessed."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Commands(Table):
    """A host's own commands, each a list of words; an empty one leaves the work to specttui.

    Attributes:
        stop: Stops the server; returns when that is under way.
        start: Starts it and returns. `{command}` as a word stands for the server's whole command line,
            `{env}` for the variables it needs, as `NAME=value` words.
        log: Prints the server's log and goes on.
    """

    stop: Words = ()
    start: Words = ()
    log: Words = ()


class HostProfile(Table):
    """One host, `[hosts.NAME]`.

    Attributes:
        host: Where to connect, as on the command line; the profile's name when empty.
        via: The program through which every command goes: "docker exec -i NAME", as text or as a list.
        readonly: Remove every action that changes the host.
        server_port: The SGLang server's port, where several run.
        log: The server's log file on the host, if it is not found.
        sudo: Write files through sudo: false, true, or "auto" (where it asks for no password).
        roll_back: Go back to the last good launch by itself when a restart fails.
        commands: The host's own ways to stop, start and read the server.
    """

    host: str = ""
    via: Words = ()
    readonly: bool = False
    server_port: Port | None = None
    log: Annotated[str, Field(min_length=1)] | None = None
    sudo: Annotated[SudoMode, BeforeValidator(as_sudo)] = "auto"
    roll_back: bool = False
    commands: Commands = Commands()


class ServerTable(Table):
    """A server that spans several hosts, `[servers.NAME]`.

    Attributes:
        nodes: Its hosts, each as on the command line or by its profile's name.
    """

    nodes: Annotated[Names, Field(min_length=2)]


class PresetTable(Table):
    """One of the user's presets, `[[presets]]`.

    Attributes:
        name: What the restart dialog shows.
        short: Its word in run labels; the name when empty.
        group: Presets of one group exclude each other.
        description: One line on what it does.
        flags: Flags to set, with or without their dashes; true for one without a value.
        env: Variables to set.
        remove_flags: Flags to remove.
        unset_env: Variables to unset.
    """

    name: Annotated[str, Field(min_length=1)]
    short: str = ""
    group: str = "yours"
    description: str = ""
    flags: Annotated[dict[str, str | None], BeforeValidator(as_flags)] = {}
    env: Annotated[dict[str, str], BeforeValidator(as_variables)] = {}
    remove_flags: Names = ()
    unset_env: Names = ()

    def preset(self) -> Preset:
        """The preset as the restart dialog takes it."""
        edits: list[Edit] = [SetFlag(dashed(name), value) for name, value in self.flags.items()]
        edits += [RemoveFlag(dashed(name)) for name in self.remove_flags]
        edits += [SetEnv(name, value) for name, value in self.env.items()]
        edits += [UnsetEnv(name) for name in self.unset_env]
        return Preset(self.name, self.short or self.name, self.group, self.description, tuple(edits))


class TargetTable(Table):
    """A worker that the probe does not know, `[[targets]]`; see docs/configuration.md.

    Attributes:
        class_name: The worker's class; `class` in the file.
        cycle_method: Its method that the scheduler calls once per iteration.
        phases: Phase to the call as written in that method.
    """

    class_name: Annotated[str, Field(alias="class", min_length=1)]
    cycle_method: Annotated[str, Field(min_length=1)]
    phases: dict[Phase, Annotated[str, Field(min_length=1)]]

    def target(self) -> Target:
        """The target as the probe takes it."""
        phases = {phase.value: call for phase, call in self.phases.items()}
        return custom_target(self.class_name, self.cycle_method, phases)


class Settings(Table):
    """The whole file; every key may be left out.

    Attributes:
        theme: A theme's name, ours or one of Textual's.
        refresh_hz: How often the screen is drawn, per second.
        glyphs: What bars and sparklines are drawn with.
        keymap: A command's id (docs/configuration.md lists them) to its key.
        presets: Offered in the restart dialog after the bundled ones.
        targets: Workers that the probe does not know.
        hosts: Profiles by name.
        servers: Servers on several hosts by name.
    """

    theme: str = "specttui-dark"
    refresh_hz: Annotated[float, Field(gt=0, le=20)] = 2.0
    glyphs: Literal["block", "braille", "ascii"] = "block"
    keymap: dict[str, str] = {}
    presets: tuple[PresetTable, ...] = ()
    targets: tuple[TargetTable, ...] = ()
    hosts: dict[str, HostProfile] = {}
    servers: dict[str, ServerTable] = {}

    @property
    def probe_targets(self) -> tuple[Target, ...]:
        """The user's targets, then the probe's own table."""
        return (*(each.target() for each in self.targets), *TARGETS)

    def hosts_of(self, names: Sequence[str]) -> tuple[str, ...]:
        """The hosts that these names of hosts and servers stand for."""
        return tuple(
            host for name in names for host in (self.servers[name].nodes if name in self.servers else (name,))
        )

    def profile(self, name: str) -> HostProfile:
        """The profile of that name; without one, a plain profile for a host of that name."""
        found = self.hosts.get(name, HostProfile())
        return found if found.host else found.model_copy(update={"host": name})


def dashed(flag: str) -> str:
    """A flag with its dashes."""
    return flag if flag.startswith("-") else f"--{flag.replace('_', '-')}"

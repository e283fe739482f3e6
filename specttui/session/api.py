"""What a screen or a script may ask of a session; `Session` implements it, tests script others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from specttui.events import Clock, Launch
from specttui.launch.edits import Edit, LaunchDiff
from specttui.state.history import HISTORY_METRICS
from specttui.state.snapshot import Series, Snapshot

__all__ = [
    "HISTORY_METRICS",
    "DraftConfigView",
    "Leftover",
    "LeftoverKind",
    "PatchPreview",
    "ProbeWay",
    "SessionApi",
]


#: How the probe gets into the server.
ProbeWay = Literal["file", "import_hook"]


@dataclass(frozen=True, slots=True)
class PatchPreview:
    """What patching would do, before anything is written.

    `diff_lines` is a unified diff of the worker file (the appended block). `phases_found` maps a phase to
    "line N: call text"; `phases_missing` maps one to the reason. `way` is "file", or "import_hook" where
    the file cannot be written: then a folder on the restarted server's PYTHONPATH does it, and the diff
    shows what that folder holds. `nodes` names all hosts of a server that spans several: they are patched
    together, or none is.
    """

    path: str
    worker_class: str
    family: str
    cycle_method: str
    clock: Clock
    phases_found: dict[str, str]
    phases_missing: dict[str, str]
    diff_lines: tuple[str, ...]
    original_sha256: str
    patched_sha256: str
    backup_path: str
    warnings: tuple[str, ...] = ()
    already_patched: bool = False
    way: ProbeWay = "file"
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DraftConfigView:
    """The draft model's config.json as it is on the host.

    `layer_ids` maps a place in it ("eagle_config.eagle_aux_hidden_state_layer_ids") to the target's layers
    whose hidden states the draft reads: wrong ones ruin acceptance. `changed` is True while it holds an edit.
    """

    path: str
    text: str
    layer_ids: dict[str, tuple[int, ...]]
    sha256: str
    original_sha256: str
    changed: bool = False


#: What a session may leave on a host. The last two harm nobody, so nobody is asked about them alone.
LeftoverKind = Literal[
    "patched file", "edited config", "override", "temporary file", "backup", "hook folder", "lock",
    "control file", "launch script",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Leftover:
    """What another session left on the host, or still uses there.

    Attributes:
        path: Where it lies; for a lock, what is locked.
        what: What it is.
        session_id: Whose it is, as far as it says.
        age_s: Seconds since it was made, by the host's clock; for a lock, since it was taken. None: unknown.
        owner: `user@machine` of the session, where a lock says so.
        alive: True while that session shows signs of life: then nothing is touched unless it is taken over.
        host: The host, where a session has several.
    """

    path: str
    what: LeftoverKind
    session_id: str = ""
    age_s: float | None = None
    owner: str = ""
    alive: bool = False
    host: str = ""

    @property
    def matters(self) -> bool:
        """False for what nobody needs to be asked about by itself."""
        return self.what not in {"control file", "launch script"}


class SessionApi(Protocol):
    """The commands. Each raises SpecttuiError on failure, after emitting CommandFailed."""

    readonly: bool

    def snapshot(self) -> Snapshot:
        """The state as one immutable value, for the screen's next tick."""
        ...

    def history(self, metric: str) -> Series:
        """A metric over the whole session, for the timeline; `metric` is a key of HISTORY_METRICS."""
        ...

    @property
    def launch(self) -> Launch | None:
        """The launch of the running (or last) server, with its secrets; never recorded."""
        ...

    @property
    def can_roll_back(self) -> bool:
        """True when a last good launch is known and is not the running one; any, while none runs."""
        ...

    @property
    def patched(self) -> bool:
        """True while a worker file on the host holds our block."""
        ...

    @property
    def changes_on_host(self) -> tuple[str, ...]:
        """What of ours is on the host and would stay there, one sentence each; restoring undoes all."""
        ...

    async def back_up(self) -> str:
        """Copy the worker file beside itself and into the session folder; returns the remote path."""
        ...

    async def preview_patch(self, clock: Clock = Clock.EVENTS, way: ProbeWay | None = None) -> PatchPreview:
        """Read the worker file and say what patching would do; changes nothing.

        `way` None chooses: the file where it can be written, else the import hook.
        """
        ...

    async def patch(self, clock: Clock = Clock.EVENTS, way: ProbeWay | None = None) -> None:
        """Back up if needed and put the block in; takes effect at the next restart."""
        ...

    def preview_restore(self) -> tuple[str, ...]:
        """What `restore` would bring back or take away: files, and names of units."""
        ...

    async def restore(self, *, take_over: bool = False) -> None:
        """Bring the original of everything back that we changed on the host, or found changed.

        What other sessions left and the user did not ignore is restored too. What a living session works on
        is left alone unless `take_over` is True: all else is done, then LockedError tells who works on it.
        """
        ...

    @property
    def leftovers(self) -> tuple[Leftover, ...]:
        """What other sessions left on the host, or still use, and nothing was decided about yet."""
        ...

    async def restore_leftovers(self, *, take_over: bool = False) -> None:
        """Bring the originals back and clear away all that dead sessions left.

        A backup stays while its original is not verifiably in place. `take_over` as for `restore`.
        """
        ...

    async def adopt_leftovers(self, *, take_over: bool = False) -> None:
        """Take what dead sessions left over as this session's own: locks, backups, patches, overrides.

        `take_over` as for `restore`.
        """
        ...

    def ignore_leftovers(self) -> None:
        """Touch nothing of what was left, and ask no more about it in this session."""
        ...

    def preview_restart(self, edits: Sequence[Edit]) -> LaunchDiff:
        """What a restart with these edits would run."""
        ...

    async def restart(self, edits: Sequence[Edit], *, retry_hung: bool = False) -> None:
        """Stop the server and start it with the edits; returns when it is ready.

        Values that cannot work are refused before anything is stopped, and so is a combination that hung in
        this session, unless `retry_hung` says that the user was told.
        """
        ...

    def extend_start(self, seconds: float) -> None:
        """Wait so much longer for the server that is being started."""
        ...

    async def restart_last_good(self) -> None:
        """Start the last launch that became ready."""
        ...

    async def view_draft_config(self) -> DraftConfigView:
        """Read the draft model's config.json; changes nothing."""
        ...

    async def edit_draft_config(self, text: str) -> None:
        """Back up if needed and write this text, a JSON object; takes effect at the next restart."""
        ...

    async def restore_draft_config(self) -> None:
        """Bring the original config.json back, byte for byte."""
        ...

    async def set_clock(self, clock: Clock) -> None:
        """Switch the running probe to another clock, or off, without a restart."""
        ...

    async def measure_probe_cost(self) -> None:
        """Switch the probe off and on in turn under the present traffic and compare cycle times."""
        ...

    async def run_load(self, concurrency: int, requests: int, max_new_tokens: int) -> None:
        """Send the bundled prompts to the server at a set concurrency."""
        ...

    async def add_note(self, text: str) -> None:
        """Put a note into the recording and the report."""
        ...

    async def export(self, path: Path | None = None) -> Path:
        """Write the session as markdown; returns where."""
        ...

    async def cancel(self) -> None:
        """Cancel the command in progress at its next safe point."""
        ...

    async def rediscover(self) -> None:
        """Look for the running server again."""
        ...

"""A recorded session behind the same face as a live one: it can be looked at and exported, not changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from specttui.errors import UsageError
from specttui.events import Clock, Launch
from specttui.launch.edits import Edit, LaunchDiff
from specttui.session.api import DraftConfigView, Leftover, PatchPreview, ProbeWay
from specttui.session.export import write_report
from specttui.session.replay import Replay, Rewound
from specttui.state.build import SnapshotBuilder
from specttui.state.node_states import NodeStates
from specttui.state.node_view import snapshot_of
from specttui.state.snapshot import Series, Snapshot


class ReplaySession:
    """Plays a recording into the fold.

    Args:
        replay: The player.
    """

    readonly = True
    can_roll_back = False
    patched = False
    changes_on_host: tuple[str, ...] = ()
    leftovers: tuple[Leftover, ...] = ()
    launch: Launch | None = None

    def __init__(self, replay: Replay) -> None:
        self.replay = replay
        self.states = NodeStates()
        self._builder = SnapshotBuilder()

    async def start(self) -> None:
        """Play until the end of the recording or until `close`."""
        async for item in self.replay:
            if isinstance(item, Rewound):
                self.states = NodeStates()
                self._builder = SnapshotBuilder()
            else:
                self.states.apply(item)

    async def close(self) -> None:
        """Stop playing."""
        self.replay.close()

    def snapshot(self) -> Snapshot:
        """The state at the moment played."""
        now_s = max(self.replay.position_s, self.states.offset_s)
        return snapshot_of(self._builder, self.states, now_s)

    def history(self, metric: str) -> Series:
        """A metric from the recording's start to the moment played."""
        return self.states.head.history[metric].series()

    async def export(self, path: Path | None = None) -> Path:
        """Write the whole recording's report, whatever moment is played."""
        return write_report(self.replay.path.parent, path)

    async def cancel(self) -> None:
        """Nothing runs that could be cancelled."""

    async def back_up(self) -> str:
        """Refused: a replay has no host."""
        _refuse()

    async def preview_patch(self, clock: Clock = Clock.EVENTS, way: ProbeWay | None = None) -> PatchPreview:
        """Refused: a replay has no host."""
        del clock, way
        _refuse()

    async def patch(self, clock: Clock = Clock.EVENTS, way: ProbeWay | None = None) -> None:
        """Refused: a replay has no host."""
        del clock, way
        _refuse()

    def preview_restore(self) -> tuple[str, ...]:
        """Refused: a replay has no host."""
        _refuse()

    async def restore(self, *, take_over: bool = False) -> None:
        """Refused: a replay has no host."""
        del take_over
        _refuse()

    async def restore_leftovers(self, *, take_over: bool = False) -> None:
        """Refused: a replay has no host."""
        del take_over
        _refuse()

    async def adopt_leftovers(self, *, take_over: bool = False) -> None:
        """Refused: a replay has no host."""
        del take_over
        _refuse()

    def ignore_leftovers(self) -> None:
        """There are none."""

    def preview_restart(self, edits: Sequence[Edit]) -> LaunchDiff:
        """Refused: a replay has no host."""
        del edits
        _refuse()

    async def restart(self, edits: Sequence[Edit], *, retry_hung: bool = False) -> None:
        """Refused: a replay has no host."""
        del edits, retry_hung
        _refuse()

    def extend_start(self, seconds: float) -> None:
        """Refused: a replay has no host."""
        del seconds
        _refuse()

    async def restart_last_good(self) -> None:
        """Refused: a replay has no host."""
        _refuse()

    async def view_draft_config(self) -> DraftConfigView:
        """Refused: a replay has no host."""
        _refuse()

    async def edit_draft_config(self, text: str) -> None:
        """Refused: a replay has no host."""
        del text
        _refuse()

    async def restore_draft_config(self) -> None:
        """Refused: a replay has no host."""
        _refuse()

    async def set_clock(self, clock: Clock) -> None:
        """Refused: a replay has no host."""
        del clock
        _refuse()

    async def measure_probe_cost(self) -> None:
        """Refused: a replay has no host."""
        _refuse()

    async def run_load(self, concurrency: int, requests: int, max_new_tokens: int) -> None:
        """Refused: a replay has no host."""
        del concurrency, requests, max_new_tokens
        _refuse()

    async def add_note(self, text: str) -> None:
        """Refused: a recording is not changed after the fact."""
        del text
        _refuse()

    async def rediscover(self) -> None:
        """Refused: a replay has no host."""
        _refuse()


def _refuse() -> NoReturn:
    raise UsageError(
        "This is a replay: there is no host to act on",
        remedy="Connect to the host to do this: specttui HOST",
    )

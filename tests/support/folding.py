"""Log text folded into a state through the parser, one line a second, and the snapshot of it."""

from __future__ import annotations

from specttui.events import AnyEvent
from specttui.log.parser import LogParser
from specttui.state.build import SnapshotBuilder
from specttui.state.session_state import SessionState
from specttui.state.snapshot import Snapshot
from support.envelopes import envelope


class Folding:
    """A state that takes events and log lines in turn.

    `now_s` advances by `step_s` with every line or event.
    """

    def __init__(self, *events: AnyEvent, step_s: float = 1.0) -> None:
        self.state = SessionState()
        self.parser = LogParser()
        self.step_s = step_s
        self.now_s = 0.0
        self._builder = SnapshotBuilder()
        for event in events:
            self.take(event)

    def take(self, event: AnyEvent) -> None:
        """Fold one event."""
        self.state.apply(envelope(self.now_s, event))
        self.now_s += self.step_s

    def log(self, *lines: str) -> None:
        """Parse and fold log lines."""
        for line in lines:
            for event in (*self.parser.feed(f"{line}\n".encode()), *self.parser.flush()):
                self.state.apply(envelope(self.now_s, event))  # type: ignore[arg-type]
            self.now_s += self.step_s

    def snapshot(self, later_s: float = 0.0) -> Snapshot:
        """The state now, or so much later."""
        return self._builder.build(self.state, self.now_s + later_s)

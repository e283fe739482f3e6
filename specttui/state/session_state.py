"""The fold: events in, state out. Live, replay and reports all go through `apply`."""

from __future__ import annotations

from specttui.events import Envelope
from specttui.state import fold_log, fold_observer, fold_probe, fold_server, fold_session
from specttui.state.facts import Facts

_HANDLERS = (
    fold_session.HANDLERS
    | fold_server.HANDLERS
    | fold_log.HANDLERS
    | fold_probe.HANDLERS
    | fold_observer.HANDLERS
)


class SessionState(Facts):
    """All that the events so far say. Only `apply` changes it; it does no I/O and reads no clock.

    Equal event sequences give equal states, which is what makes a recording a faithful copy.
    """

    def apply(self, envelope: Envelope) -> None:
        """Fold one event. Kinds that carry nothing for the state pass by."""
        self.at, self.offset_s = envelope.at, envelope.offset_s
        handler = _HANDLERS.get(type(envelope.event))
        if handler is not None:
            handler(self, envelope.event)

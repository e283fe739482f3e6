"""The states of a session's hosts, folded from one stream: each event goes to the host that it names."""

from __future__ import annotations

from collections import deque

from specttui import events as ev
from specttui.state.facts import LOG_LINES
from specttui.state.session_state import SessionState

#: What any node measures and prints is a figure of the whole server, which the head's state holds: ranks
#: write the probe's lines on their own host, and so do data-parallel groups their decode lines.
_OF_THE_SERVER = (ev.DecodeStats, ev.PrefillStats, ev.ProbeCycles, ev.ProbeSummary)


class NodeStates:
    """One state per host, and one of the session as a whole; a session on a single host has just one in all.

    Equal event sequences give equal states, as for `SessionState`.
    """

    def __init__(self) -> None:
        self.session = SessionState()
        self.names: tuple[str, ...] = ()
        self.offset_s = 0.0
        self.log: deque[str] = deque(maxlen=LOG_LINES)
        self.log_total = 0
        self._nodes: dict[str, SessionState] = {}

    @property
    def head(self) -> SessionState:
        """The state of the node that answers clients: of the first named one until that is known."""
        return self._nodes[self.names[0]] if self.names else self.session

    @property
    def arranged(self) -> bool:
        """True when the nodes' ranks are known."""
        return bool(self.session.nodes_by_rank)

    @property
    def nodes(self) -> dict[str, SessionState]:
        """Each node's state by its name, by rank where that is known; empty for a single host."""
        return {name: self._nodes[name] for name in self.names}

    def begin(self, names: tuple[str, ...]) -> None:
        """The session is about these hosts; none or one is a session on a single host.

        Args:
            names: As the envelopes bear them.
        """
        if len(names) > 1:
            self.names = names
            self._nodes = {name: self._nodes.get(name) or SessionState() for name in names}

    def of(self, name: str) -> SessionState:
        """The state that events of this host go to; that of the session for any other name."""
        return self._nodes.get(name, self.session)

    def apply(self, envelope: ev.Envelope) -> None:
        """Fold one event."""
        event = envelope.event
        self.offset_s = envelope.offset_s
        if isinstance(event, ev.SessionStarted):
            self.begin(event.nodes)
        elif isinstance(event, ev.NodesArranged):
            self.names = event.nodes
        state = self.of(envelope.host)
        state.apply(envelope)
        if not self.names or state is self.session:
            return
        if state is not self.head and isinstance(event, _OF_THE_SERVER):
            self.head.apply(envelope)
        if isinstance(event, ev.LogLines):
            self._keep(envelope.host, event)

    def _keep(self, name: str, event: ev.LogLines) -> None:
        self.log.extend(f"{name}| {line}" for line in event.lines)
        self.log_total += len(event.lines) + event.dropped

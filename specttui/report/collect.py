"""The fold that gathers, from a whole recording, what the final snapshot does not hold.

The envelopes of a session over several hosts bear their names. What each says of its server is gathered by
host, because only later events tell which of them is the head, whose word counts for the server as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, ClassVar

from specttui import events as ev
from specttui.report.collect_host import HostCollector
from specttui.report.facts import (
    AlertFact,
    CommandFact,
    Moment,
    NodeFact,
    NoteFact,
    ReportInput,
    StartUpFact,
)
from specttui.report.timeline import Timeline
from specttui.state.snapshot import Snapshot


def collect(envelopes: Iterable[ev.Envelope], snapshot: Snapshot) -> ReportInput:
    """Gather a report's facts in one pass.

    Args:
        envelopes: The whole recording, in order.
        snapshot: The state after the last of them.
    """
    collector = _Collector()
    for envelope in envelopes:
        collector.apply(envelope)
    return collector.result(snapshot)


class _Collector:
    """What is the session's own, and the collectors of its hosts; that of a single host has no name.

    Dictionaries keep the order in which things first happened.
    """

    def __init__(self) -> None:
        self.moment = Moment(0.0, 0.0)
        self.node = ""
        self.started_at: float | None = None
        self.session: ev.SessionStarted | None = None
        self.complete = False
        self.nodes: tuple[str, ...] = ()
        self.arranged = False
        self.hosts: dict[str, HostCollector] = {"": HostCollector()}
        self.clocks: dict[ev.Clock, None] = {}
        self.commands: dict[int, CommandFact] = {}
        self.notes: list[NoteFact] = []
        self.alerts: dict[tuple[str, ev.Severity, str], AlertFact] = {}
        self.timeline = Timeline()

    def apply(self, envelope: ev.Envelope) -> None:
        """Take the next event."""
        self.moment = Moment(envelope.offset_s, envelope.at)
        self.node = envelope.host if envelope.host in self.hosts else ""
        if self.started_at is None:
            self.started_at = envelope.at - envelope.offset_s
        handler = self._HANDLERS.get(type(envelope.event))
        if handler is not None:
            handler(self, envelope.event)
        self.hosts[self.node].apply(self.moment, envelope.event)
        self.timeline.add(envelope, self.node)

    def result(self, snapshot: Snapshot) -> ReportInput:
        """Everything gathered."""
        ordered = [self.hosts[name] for name in self.nodes] or [self.hosts[""]]
        head = ordered[0]
        probe = next((host.probe for host in ordered if host.probe is not None), None)
        return ReportInput(
            snapshot=snapshot,
            session_id=self.session.session_id if self.session else snapshot.session_id,
            target=self.session.target if self.session else snapshot.target,
            mode=self.session.mode if self.session else snapshot.mode,
            specttui_version=self.session.specttui_version if self.session else "",
            started_at=self.started_at or 0.0,
            duration_s=self.moment.offset_s,
            complete=self.complete,
            server=head.server or snapshot.server,
            found_launch=head.launches[0] if head.launches else None,
            last_launch=head.launches[-1] if head.launches else None,
            arguments=head.arguments,
            adjustments=tuple(head.adjustments),
            clocks=tuple(self.clocks),
            probe_way=probe.way if probe else "",
            phases_missing=probe.missing if probe else {},
            connection_losses=sum(host.losses for host in ordered),
            nodes=tuple(self._nodes(snapshot)),
            commands=tuple(self.commands.values()),
            notes=tuple(self.notes),
            alerts=tuple(self.alerts.values()),
            start_ups=tuple(map(self._attributed, head.start_ups)),
            workers=tuple(worker for host in ordered for worker in host.workers.values()),
            loads=tuple(head.loads.values()),
            timeline=self.timeline.entries(self.nodes),
        )

    def _nodes(self, snapshot: Snapshot) -> Iterator[NodeFact]:
        gpus = {row.name: row.gpus for row in snapshot.nodes}
        for rank, name in enumerate(self.nodes):
            yield self.hosts[name].as_node(rank if self.arranged else None, gpus.get(name, ()))

    def _attributed(self, start: StartUpFact) -> StartUpFact:
        """A failed start of several hosts names the one that failed: the head, unless it says otherwise."""
        names = [f"{name}: " for name in self.nodes]
        if not names or not start.reason or start.reason.startswith(tuple(names)):
            return start
        return replace(start, reason=names[0] + start.reason)

    # The session and its hosts

    def _session_started(self, event: ev.SessionStarted) -> None:
        self.session = event
        if len(event.nodes) > 1:
            self.nodes = event.nodes
            self.hosts |= {name: HostCollector(name) for name in event.nodes}

    def _nodes_arranged(self, event: ev.NodesArranged) -> None:
        self.nodes, self.arranged = event.nodes, True

    def _session_ended(self, event: ev.SessionEnded) -> None:
        del event
        self.complete = True

    def _probe_cycles(self, event: ev.ProbeCycles) -> None:
        self.clocks[event.clock] = None

    # Commands, notes, alerts

    def _command_started(self, event: ev.CommandStarted) -> None:
        self.commands[event.command_id] = CommandFact(
            event.command_id, event.name, event.detail, started=self.moment
        )

    def _command_finished(self, event: ev.CommandFinished) -> None:
        command = self._command(event.command_id, event.name)
        self.commands[event.command_id] = replace(
            command, outcome="finished", seconds=self._since(command.started), result=event.detail
        )

    def _command_failed(self, event: ev.CommandFailed) -> None:
        command = self._command(event.command_id, event.name)
        self.commands[event.command_id] = replace(
            command,
            outcome="failed",
            seconds=self._since(command.started),
            result=f"{event.title}. {event.cause}".strip() if event.cause else event.title,
            remedy=event.remedy,
        )

    def _command(self, command_id: int, name: str) -> CommandFact:
        return self.commands.get(command_id) or CommandFact(command_id, name, "", started=self.moment)

    def _note(self, event: ev.NoteAdded) -> None:
        self.notes.append(NoteFact(self.moment, event.text))

    def _alert(self, event: ev.Alert) -> None:
        key = (self.node, event.severity, event.message)
        known = self.alerts.get(key)
        self.alerts[key] = (
            replace(known, count=known.count + 1)
            if known
            else AlertFact(self.moment, event.severity, event.message, event.remedy, node=self.node)
        )

    def _since(self, moment: Moment) -> float:
        return self.moment.offset_s - moment.offset_s

    _HANDLERS: ClassVar[dict[type[ev.Event], Callable[[_Collector, Any], None]]] = {
        ev.SessionStarted: _session_started,
        ev.NodesArranged: _nodes_arranged,
        ev.SessionEnded: _session_ended,
        ev.CommandStarted: _command_started,
        ev.CommandFinished: _command_finished,
        ev.CommandFailed: _command_failed,
        ev.NoteAdded: _note,
        ev.Alert: _alert,
        ev.ProbeCycles: _probe_cycles,
    }

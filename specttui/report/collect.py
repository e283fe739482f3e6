"""The fold that gathers, from a whole recording, what the final snapshot does not hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, ClassVar

from specttui import events as ev
from specttui.report.facts import (
    AlertFact,
    CommandFact,
    LoadFact,
    Moment,
    NoteFact,
    ReportInput,
    StartUpFact,
    WorkerFact,
    WorkerStep,
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
    """Dictionaries keep the order in which things first happened."""

    def __init__(self) -> None:
        self.moment = Moment(0.0, 0.0)
        self.started_at: float | None = None
        self.session: ev.SessionStarted | None = None
        self.complete = False
        self.server: ev.ServerInfo | None = None
        self.launches: list[ev.Launch] = []
        self.run_id: int | None = None
        self.arguments: dict[str, str] = {}
        self.adjustments: list[str] = []
        self.clocks: dict[ev.Clock, None] = {}
        self.probe: ev.ProbeInstalled | None = None
        self.losses = 0
        self.commands: dict[int, CommandFact] = {}
        self.notes: list[NoteFact] = []
        self.alerts: dict[tuple[ev.Severity, str], AlertFact] = {}
        self.start_ups: list[StartUpFact] = []
        self.phase: tuple[str, float] | None = None
        self.workers: dict[str, WorkerFact] = {}
        self.loads: dict[int, LoadFact] = {}
        self.timeline = Timeline()

    def apply(self, envelope: ev.Envelope) -> None:
        """Take the next event."""
        self.moment = Moment(envelope.offset_s, envelope.at)
        if self.started_at is None:
            self.started_at = envelope.at - envelope.offset_s
        handler = self._HANDLERS.get(type(envelope.event))
        if handler is not None:
            handler(self, envelope.event)
        self.timeline.add(envelope)

    def result(self, snapshot: Snapshot) -> ReportInput:
        """Everything gathered."""
        return ReportInput(
            snapshot=snapshot,
            session_id=self.session.session_id if self.session else snapshot.session_id,
            target=self.session.target if self.session else snapshot.target,
            mode=self.session.mode if self.session else snapshot.mode,
            specttui_version=self.session.specttui_version if self.session else "",
            started_at=self.started_at or 0.0,
            duration_s=self.moment.offset_s,
            complete=self.complete,
            server=self.server or snapshot.server,
            found_launch=self.launches[0] if self.launches else None,
            last_launch=self.launches[-1] if self.launches else None,
            arguments=self.arguments,
            adjustments=tuple(self.adjustments),
            clocks=tuple(self.clocks),
            probe_way=self.probe.way if self.probe else "",
            phases_missing=self.probe.missing if self.probe else {},
            connection_losses=self.losses,
            commands=tuple(self.commands.values()),
            notes=tuple(self.notes),
            alerts=tuple(self.alerts.values()),
            start_ups=tuple(self.start_ups),
            workers=tuple(self.workers.values()),
            loads=tuple(self.loads.values()),
            timeline=self.timeline.entries(),
        )

    # The session and its connection

    def _session_started(self, event: ev.SessionStarted) -> None:
        self.session = event

    def _session_ended(self, event: ev.SessionEnded) -> None:
        del event
        self.complete = True

    def _connection_down(self, event: ev.ConnectionDown) -> None:
        del event
        self.losses += 1

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
        key = (event.severity, event.message)
        known = self.alerts.get(key)
        self.alerts[key] = (
            replace(known, count=known.count + 1)
            if known
            else AlertFact(self.moment, event.severity, event.message, event.remedy)
        )

    # The server

    def _server_found(self, event: ev.ServerFound) -> None:
        self.server = event.server
        self.launches.append(event.server.launch)
        worker = event.server.worker
        if worker.path and worker.state is not ev.FileState.UNKNOWN:
            self._worker_step(worker.path, worker.state, worker.sha256)

    def _server_starting(self, event: ev.ServerStarting) -> None:
        self.start_ups.append(StartUpFact(self.moment, event.label))
        self.phase = None
        self.arguments, self.adjustments = {}, []

    def _server_progress(self, event: ev.ServerProgress) -> None:
        if self.phase is None or self.phase[0] != event.phase:
            self._end_phase()
            self.phase = (event.phase, self.moment.offset_s)

    def _server_ready(self, event: ev.ServerReady) -> None:
        self._end_start_up("ready", event.elapsed_s)

    def _server_failed(self, event: ev.ServerFailed) -> None:
        self._end_start_up("failed", None, event.diagnosis.title)

    def _end_start_up(self, outcome: str, seconds: float | None, reason: str = "") -> None:
        self._end_phase()
        if not self.start_ups or self.start_ups[-1].outcome != "unfinished":
            return
        last = self.start_ups[-1]
        known = seconds if seconds is not None else self._since(last.moment)
        self.start_ups[-1] = replace(last, outcome=outcome, seconds=known, reason=reason)

    def _end_phase(self) -> None:
        if self.phase is None or not self.start_ups:
            return
        name, began_s = self.phase
        last = self.start_ups[-1]
        self.start_ups[-1] = replace(last, phases=(*last.phases, (name, self.moment.offset_s - began_s)))
        self.phase = None

    def _server_arguments(self, event: ev.ServerArguments) -> None:
        self.arguments = event.arguments

    def _argument_adjusted(self, event: ev.ArgumentAdjusted) -> None:
        if event.text not in self.adjustments:
            self.adjustments.append(event.text)

    def _worker_file(self, event: ev.WorkerFileChecked) -> None:
        self._worker_step(event.path, event.state, event.sha256)
        worker = self.workers[event.path]
        self.workers[event.path] = replace(
            worker,
            original_sha256=event.original_sha256 or worker.original_sha256,
            backup_path=event.backup_path or worker.backup_path,
            local_backup_path=event.local_backup_path or worker.local_backup_path,
        )

    def _worker_step(self, path: str, state: ev.FileState, sha256: str) -> None:
        step = WorkerStep(self.moment, state, sha256)
        worker = self.workers.get(path) or WorkerFact(path, ())
        if not worker.steps or (worker.final.state, worker.final.sha256) != (state, sha256):
            worker = replace(worker, steps=(*worker.steps, step))
        if state is ev.FileState.ORIGINAL and not worker.original_sha256:
            worker = replace(worker, original_sha256=sha256)
        self.workers[path] = worker

    # Probe, runs, loads

    def _probe_installed(self, event: ev.ProbeInstalled) -> None:
        self.probe = event

    def _probe_cycles(self, event: ev.ProbeCycles) -> None:
        self.clocks[event.clock] = None

    def _run_started(self, event: ev.RunStarted) -> None:
        self.run_id = event.run_id
        self.launches.append(event.launch)

    def _run_ended(self, event: ev.RunEnded) -> None:
        del event
        self.run_id = None

    def _load_started(self, event: ev.LoadStarted) -> None:
        self.loads[event.load_id] = LoadFact(self.moment, self.run_id, event)

    def _load_finished(self, event: ev.LoadFinished) -> None:
        if event.load_id in self.loads:
            self.loads[event.load_id] = replace(self.loads[event.load_id], finished=event)

    def _since(self, moment: Moment) -> float:
        return self.moment.offset_s - moment.offset_s

    _HANDLERS: ClassVar[dict[type[ev.Event], Callable[[_Collector, Any], None]]] = {
        ev.SessionStarted: _session_started,
        ev.SessionEnded: _session_ended,
        ev.ConnectionDown: _connection_down,
        ev.CommandStarted: _command_started,
        ev.CommandFinished: _command_finished,
        ev.CommandFailed: _command_failed,
        ev.NoteAdded: _note,
        ev.Alert: _alert,
        ev.ServerFound: _server_found,
        ev.ServerStarting: _server_starting,
        ev.ServerProgress: _server_progress,
        ev.ServerReady: _server_ready,
        ev.ServerFailed: _server_failed,
        ev.ServerArguments: _server_arguments,
        ev.ArgumentAdjusted: _argument_adjusted,
        ev.WorkerFileChecked: _worker_file,
        ev.ProbeInstalled: _probe_installed,
        ev.ProbeCycles: _probe_cycles,
        ev.RunStarted: _run_started,
        ev.RunEnded: _run_ended,
        ev.LoadStarted: _load_started,
        ev.LoadFinished: _load_finished,
    }

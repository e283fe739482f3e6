"""The fold over one host's events: its server, its starts, its worker files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

from specttui import events as ev
from specttui.report.collect_ranks import RankCycles
from specttui.report.facts import LoadFact, Moment, NodeFact, StartUpFact, WorkerFact, WorkerStep


class HostCollector:
    """What one host said. Dictionaries keep the order in which things first happened.

    Args:
        name: The host's name among several, "" where there is just one.
    """

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.moment = Moment(0.0, 0.0)
        self.server: ev.ServerInfo | None = None
        self.launches: list[ev.Launch] = []
        self.run_id: int | None = None
        self.arguments: dict[str, str] = {}
        self.adjustments: list[str] = []
        self.probe: ev.ProbeInstalled | None = None
        self.losses = 0
        self.start_ups: list[StartUpFact] = []
        self.phase: tuple[str, float] | None = None
        self.workers: dict[str, WorkerFact] = {}
        self.loads: dict[int, LoadFact] = {}
        self.ranks = RankCycles()

    def apply(self, moment: Moment, event: ev.Event) -> None:
        """Take the host's next event."""
        self.moment = moment
        self.ranks.apply(event)
        handler = self._HANDLERS.get(type(event))
        if handler is not None:
            handler(self, event)

    def as_node(self, rank: int | None, gpus: tuple[ev.Gpu, ...]) -> NodeFact:
        """The host as last seen; of several worker files, the one that changed last.

        Args:
            rank: Its number in the server, None when it was never known.
            gpus: Its GPUs as sampled last; those found with the server where none were.
        """
        files = self.workers.values()
        file = max(files, key=lambda each: each.final.moment.offset_s, default=None)
        slowest = self.ranks.slowest()
        return NodeFact(
            name=self.name,
            rank=rank,
            worker_path=file.path if file else "",
            worker_state=file.final.state if file else None,
            worker_sha256=file.final.sha256 if file else "",
            gpus=gpus or (self.server.gpus if self.server else ()),
            slowest_rank=slowest[0] if slowest else "",
            slowest_cycle_ms=slowest[1] if slowest else None,
            connection_losses=self.losses,
        )

    def _connection_down(self, event: ev.ConnectionDown) -> None:
        del event
        self.losses += 1

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
        worker = self.workers.get(path) or WorkerFact(path, (), node=self.name)
        if not worker.steps or (worker.final.state, worker.final.sha256) != (state, sha256):
            worker = replace(worker, steps=(*worker.steps, step))
        if state is ev.FileState.ORIGINAL and not worker.original_sha256:
            worker = replace(worker, original_sha256=sha256)
        self.workers[path] = worker

    # Probe, runs, loads

    def _probe_installed(self, event: ev.ProbeInstalled) -> None:
        self.probe = event

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

    _HANDLERS: ClassVar[dict[type[ev.Event], Callable[[HostCollector, Any], None]]] = {
        ev.ConnectionDown: _connection_down,
        ev.ServerFound: _server_found,
        ev.ServerStarting: _server_starting,
        ev.ServerProgress: _server_progress,
        ev.ServerReady: _server_ready,
        ev.ServerFailed: _server_failed,
        ev.ServerArguments: _server_arguments,
        ev.ArgumentAdjusted: _argument_adjusted,
        ev.WorkerFileChecked: _worker_file,
        ev.ProbeInstalled: _probe_installed,
        ev.RunStarted: _run_started,
        ev.RunEnded: _run_ended,
        ev.LoadStarted: _load_started,
        ev.LoadFinished: _load_finished,
    }

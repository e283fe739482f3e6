"""Restarting: stop the server, start another launch, follow it until it is ready, or say why it is not."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field, replace
from typing import Any

from specttui.errors import ServerStartError, SpecttuiError
from specttui.events import (
    Alert,
    Diagnosis,
    Event,
    FailureSeen,
    Launch,
    LogKind,
    LogSource,
    RunEnded,
    ServerExited,
    ServerFailed,
    ServerReady,
    Severity,
    StartupStep,
)
from specttui.host.readiness import Readiness, StartFailedError
from specttui.host.ready import Endpoint, endpoint_of
from specttui.host.server import ServerControl
from specttui.host.start import Started
from specttui.host.stop import Stoppable
from specttui.host.tail import FromOffset
from specttui.launch import spec_settings
from specttui.session.emitter import Emitter
from specttui.session.launches import Launches
from specttui.session.log_pump import FLUSH_S, LogPump
from specttui.session.startup_progress import StartupProgress

#: After the log told of a failure the process usually ends by itself; wait so long for it.
LAST_WORDS_S = 5.0


@dataclass(slots=True)
class _Start:
    """What is known of a start while it goes on."""

    readiness: Readiness
    progress: StartupProgress
    failures: list[FailureSeen] = field(default_factory=list)
    failed_s: float | None = None


class Restarter:
    """Stops and starts servers for the session.

    Args:
        control: The host's servers.
        emitter: Takes the events.
        pump: Follows the new server's log.
        launches: Knows what ran.
        earlier_starts: Seconds per phase of earlier starts on this host.
    """

    def __init__(
        self,
        control: ServerControl,
        emitter: Emitter,
        pump: LogPump,
        launches: Launches,
        earlier_starts: dict[str, float] | None = None,
    ) -> None:
        self._control = control
        self._emitter = emitter
        self._pump = pump
        self._launches = launches
        self._earlier = dict(earlier_starts or {})
        self._start: _Start | None = None
        self.running: Stoppable | None = None
        self.busy = False

    @property
    def earlier_starts(self) -> dict[str, float]:
        """Seconds per phase, learnt from the starts so far."""
        return dict(self._earlier)

    def learn(self, seconds_per_phase: dict[str, float]) -> None:
        """Remember how long the phases of starts take."""
        self._earlier = dict(seconds_per_phase)

    def saw(self, event: Event) -> None:
        """Told of each event of the log while a server starts."""
        start = self._start
        if start is None:
            return
        now_s = self._emitter.offset_s
        if isinstance(event, StartupStep):
            start.readiness.saw_progress()
            if event.phase == "ready":
                start.readiness.saw_ready_line()
            start.progress.take(event)
        elif isinstance(event, FailureSeen) and event.fatal:
            start.failures.append(event)
            start.failed_s = start.failed_s or now_s

    async def restart(self, launch: Launch, label: str) -> ServerReady:
        """Stop what runs, start this launch, wait until it is ready.

        Args:
            launch: The full launch, secrets included.
            label: Its short name.

        Raises:
            ServerManagedError: A service manager owns the running server; nothing was done.
            ServerStartError: The new server did not come up; ServerFailed says why.
        """
        self.busy = True
        try:
            endpoint = endpoint_of(launch, self._launches.config)
            await self._stop_running()
            ready = await self._bring_up(launch, label, endpoint)
        finally:
            self.busy = False
        self._launches.serves(launch)
        self._emitter.emit(ready)
        return ready

    async def _bring_up(self, launch: Launch, label: str, endpoint: Endpoint) -> ServerReady:
        beginning = asyncio.create_task(self._begin(launch, label, endpoint))
        try:
            return await self._follow(await asyncio.shield(beginning), endpoint)
        except StartFailedError as error:
            raise await self._failed(beginning.result(), error) from error
        except asyncio.CancelledError:
            # Whether there is a server to end is known only once the beginning is through.
            await asyncio.shield(self._abandon(await beginning))
            raise
        finally:
            self._start = None

    async def _stop_running(self) -> None:
        if self.running is None:
            return
        stopping = self.running
        ended = False

        def step(event: Event) -> None:
            nonlocal ended
            if not ended:
                ended = True
                self._end_run("restart")
            self._emitter.emit(event)

        await self._control.stop(stopping, step)
        self.running = None

    def _end_run(self, reason: str) -> None:
        run = self._emitter.state.run
        if run is not None:
            self._emitter.emit(RunEnded(run_id=run.run_id, reason=reason))

    async def _begin(self, launch: Launch, label: str, endpoint: Endpoint) -> Started:
        self._launches.started(launch)
        started = await self._control.start(launch, self._emitter.emit, port=endpoint.port, label=label)
        self.running = started
        self._start = _Start(Readiness(), self._progress_of(launch))
        await self._pump.begin(
            LogSource(kind=LogKind.FILE, path=started.log_path), FromOffset(started.log_offset)
        )
        return started

    async def _follow(self, started: Started, endpoint: Endpoint) -> ServerReady:
        start = self._current()
        ready = await self._or_failure(
            self._control.wait_ready(
                started, endpoint, start.readiness, lambda silent: start.progress.tell(silent.detail)
            )
        )
        self.learn(start.progress.learnt)
        return ready

    async def _or_failure(self, waiting: Coroutine[Any, Any, ServerReady]) -> ServerReady:
        """Wait for readiness, but not on and on after the log told of the server's death."""
        task = asyncio.create_task(waiting)
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=0.5)
                if not task.done():
                    self._check_last_words()
            return task.result()
        finally:
            task.cancel()

    def _check_last_words(self) -> None:
        """Give up on a start whose log told of its death, once the story had time to end."""
        start = self._current()
        if start.failed_s is None or start.readiness.ready_line_seen:
            return
        if self._emitter.offset_s - start.failed_s > LAST_WORDS_S:
            failure = start.failures[0]
            raise StartFailedError(failure.title, category=failure.category, remedy=failure.remedy)

    async def _failed(self, started: Started, error: StartFailedError) -> ServerStartError:
        """Clean up after a failed start and make the error that tells its cause."""
        await asyncio.sleep(FLUSH_S * 2)
        diagnosis = self._diagnose(error)
        self._emitter.emit(ServerFailed(diagnosis=diagnosis))
        # A port that another server holds does not become free: nobody waits for that.
        taken = diagnosis.category == "port_in_use"
        await self._clear_away(replace(started, port=0) if taken else started)
        return ServerStartError(
            diagnosis.title, cause="\n".join(diagnosis.cause_lines), remedy=diagnosis.remedy
        )

    async def _abandon(self, started: Started) -> None:
        """The user cancelled a start: end what was started."""
        await self._clear_away(started)
        self._emitter.emit(ServerExited(pid=started.pid, expected=True, detail="the start was cancelled"))

    async def _clear_away(self, started: Started) -> None:
        """End what is left of a start; what cannot be ended stays known, so that the next restart tries."""
        try:
            await self._control.stop(started, _ignore)
        except SpecttuiError as error:
            self._emitter.emit(Alert(severity=Severity.WARNING, message=error.title, remedy=error.remedy))
        else:
            self.running = None

    def _diagnose(self, error: StartFailedError) -> Diagnosis:
        failures = self._current().failures
        if not failures:
            lines = error.last_lines or tuple(error.cause.splitlines())
            return Diagnosis(
                category=error.category, title=error.title, cause_lines=lines[-12:], remedy=error.remedy
            )
        return diagnosis_of(failures[0])

    def _progress_of(self, launch: Launch) -> StartupProgress:
        speculative = not spec_settings(launch, self._launches.config).is_baseline
        return StartupProgress(self._emitter, self._earlier, speculative=speculative)

    def _current(self) -> _Start:
        assert self._start is not None, "only called between begin and the end of a start"
        return self._start


def _ignore(event: Event) -> None:
    """Steps of clearing away are no news."""
    del event


def diagnosis_of(failure: FailureSeen) -> Diagnosis:
    """A failure of the log as the reason why a server is gone."""
    return Diagnosis(
        category=failure.category,
        title=failure.title,
        cause_lines=failure.lines,
        remedy=failure.remedy,
        rank=failure.rank,
        in_probe=failure.in_probe,
    )

"""Restarting: stop the server, start another launch, follow it until it is ready, or say why it is not."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import Any

from specttui.errors import ServerStartError, SpecttuiError
from specttui.events import (
    Alert,
    Diagnosis,
    Event,
    FailureSeen,
    Launch,
    LogKind,
    Manager,
    RunEnded,
    ServerExited,
    ServerFailed,
    ServerReady,
    ServerStopping,
    Severity,
)
from specttui.host.readiness import Readiness, StartFailedError
from specttui.host.ready import Endpoint, endpoint_of
from specttui.host.server import Restart, ServerControl
from specttui.host.start import Started
from specttui.host.stop import OnStop, Stoppable
from specttui.launch import spec_settings
from specttui.launch.nodes import node_place
from specttui.session.convoy import Convoy
from specttui.session.diagnosing import diagnose_start
from specttui.session.emitter import Emitter
from specttui.session.launches import Launches
from specttui.session.log_pump import FLUSH_S, LogPump
from specttui.session.start_in_progress import StartInProgress
from specttui.session.startup_progress import StartupProgress

#: After the log told of a failure the process usually ends by itself; wait so long for it.
LAST_WORDS_S = 5.0


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
        self._start: StartInProgress | None = None
        self._running: Stoppable | None = None
        self.manager = Manager()
        self.busy = False

    @property
    def running(self) -> Stoppable | None:
        """The server that runs; its manager is remembered when it is gone."""
        return self._running

    @running.setter
    def running(self, server: Stoppable | None) -> None:
        self._running = server
        if server is not None:
            self.manager = server.manager

    @property
    def earlier_starts(self) -> dict[str, float]:
        """Seconds per phase, learnt from the starts so far."""
        return dict(self._earlier)

    def learn(self, seconds_per_phase: dict[str, float]) -> None:
        """Remember how long the phases of starts take."""
        self._earlier = dict(seconds_per_phase)

    def saw(self, event: Event) -> None:
        """Told of each event of the log while a server starts."""
        if self._start is not None:
            self._start.saw(event, self._emitter.offset_s)

    async def restart(self, launch: Launch, label: str, convoy: Convoy | None = None) -> ServerReady:
        """Stop what runs, start this launch, wait until it is ready.

        Args:
            launch: The full launch, secrets included.
            label: Its short name.
            convoy: The nodes of the server that restart with it; it alone by default.

        Raises:
            ServerManagedError: A service manager owns the running server; nothing was done.
            ServerStartError: The new server did not come up; ServerFailed says why.
        """
        self.busy = True
        convoy = convoy or Convoy()
        try:
            endpoint = endpoint_of(launch, self._launches.config)
            restart = self._control.restart(
                self.manager, launch, port=endpoint.port, label=label, base=self._launches.original
            )
            await restart.prepare()
            await convoy.together()
            await self._stop_running(restart)
            await convoy.together()
            ready = await self._bring_up(restart, launch, endpoint, convoy)
        finally:
            self.busy = False
        self._launches.serves(launch)
        self._emitter.emit(ready)
        return ready

    def extend(self, seconds: float) -> bool:
        """Wait so much longer for the start in progress; False when there is none."""
        if self._start is None:
            return False
        self._start.readiness.extend(seconds)
        return True

    async def _bring_up(
        self, restart: Restart, launch: Launch, endpoint: Endpoint, convoy: Convoy
    ) -> ServerReady:
        beginning = asyncio.create_task(self._begin(restart, launch, convoy))
        is_head = node_place(launch, self._launches.config).rank == 0
        try:
            started = await asyncio.shield(beginning)
            return await (self._follow(started, endpoint) if is_head else self._follow_worker(started))
        except StartFailedError as error:
            raise await self._failed(beginning.result(), error) from error
        except ServerStartError as error:
            raise await self._never_began(error) from error
        except asyncio.CancelledError:
            # Whether there is a server to end is known only once the beginning is through.
            await asyncio.shield(self._abandon(await beginning))
            raise
        finally:
            self._start = None

    async def _stop_running(self, restart: Restart) -> None:
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

        await restart.stop(stopping, step)
        self.running = None

    def _end_run(self, reason: str) -> None:
        run = self._emitter.state.run
        if run is not None:
            self._emitter.emit(RunEnded(run_id=run.run_id, reason=reason))

    async def _begin(self, restart: Restart, launch: Launch, convoy: Convoy) -> Started:
        self._emitter.secrets.learn(launch)
        self._launches.started(launch)
        self._start = StartInProgress(restart, Readiness(), self._progress_of(launch), convoy)
        convoy.joined(self._start.readiness)
        source = self._pump.source
        await self._pump.pause()  # a log that both servers write to is read on from where the new one begins
        try:
            started = await restart.start(source, self._emitter.emit)
        except BaseException:
            await self._pump.resume()
            raise
        self.running = started
        await self._pump.begin(*started.log)
        return started

    async def _follow(self, started: Started, endpoint: Endpoint) -> ServerReady:
        start = self._current()
        ready = await self._or_failure(
            self._control.wait_ready(started, endpoint, start.readiness, start.tell_silence)
        )
        start.convoy.head_is_ready.set()
        self.learn(start.progress.learnt)
        return ready

    async def _follow_worker(self, started: Started) -> ServerReady:
        """A node that answers no clients is ready when the one that does is."""
        start = self._current()
        return await self._or_failure(
            self._control.wait_alive(started, start.readiness, start.tell_silence, start.convoy.head_is_ready)
        )

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
        await self._hear_out()
        diagnosis = self._diagnose(error, self._current().failures)
        self._emitter.emit(ServerFailed(diagnosis=diagnosis))
        # A port that another server holds does not become free: nobody waits for that.
        taken = diagnosis.category == "port_in_use"
        await self._clear_away(replace(started, port=0) if taken else started, self._tell_kill)
        return _told_by(diagnosis)

    async def _never_began(self, error: ServerStartError) -> ServerStartError:
        """Nothing was there to follow; a log that the old server wrote to as well may still say why."""
        source = self._pump.source
        if source is not None and source.kind is not LogKind.FILE:
            await self._hear_out()
        failures = self._current().failures
        diagnosis = self._diagnose(error, failures)
        self._emitter.emit(ServerFailed(diagnosis=diagnosis))
        return _told_by(diagnosis) if failures else error

    async def _hear_out(self) -> None:
        """Let the log have its say: it may still be on its way, and a failure is told when it is complete."""
        start, deadline_s = self._current(), self._emitter.offset_s + LAST_WORDS_S
        await asyncio.sleep(FLUSH_S * 2)
        while not start.failures and self._emitter.offset_s < deadline_s:
            if start.heard_s is not None and self._emitter.offset_s - start.heard_s > FLUSH_S * 3:
                return
            await asyncio.sleep(FLUSH_S / 2)

    async def _abandon(self, started: Started) -> None:
        """The user cancelled a start: end what was started."""
        await self._clear_away(started, self._emitter.emit)
        self._emitter.emit(ServerExited(pid=started.pid, expected=True, detail="the start was cancelled"))

    def _tell_kill(self, step: ServerStopping) -> None:
        """Of the steps after a failure only force is news: the failure itself stays what is shown."""
        if step.step == "kill":
            text = f"What the failed start left did not end by itself and was killed: {step.detail}"
            self._emitter.emit(Alert(severity=Severity.INFO, message=text))

    async def _clear_away(self, started: Started, on_step: OnStop) -> None:
        """End what is left of a start; what cannot be ended stays known, so that the next restart tries."""
        try:
            await self._current().restart.stop(started, on_step)
        except SpecttuiError as error:
            self._emitter.emit(Alert(severity=Severity.WARNING, message=error.title, remedy=error.remedy))
        else:
            self.running = None

    def _diagnose(self, error: ServerStartError, failures: Sequence[FailureSeen] = ()) -> Diagnosis:
        lines = tuple(self._start.last_lines) if self._start is not None else ()
        return diagnose_start(
            error, failures, self._launches.current, self._launches.sglang_version, last_lines=lines
        )

    def _progress_of(self, launch: Launch) -> StartupProgress:
        speculative = not spec_settings(launch, self._launches.config).is_baseline
        return StartupProgress(self._emitter, self._earlier, speculative=speculative)

    def _current(self) -> StartInProgress:
        assert self._start is not None, "only called between begin and the end of a start"
        return self._start


def _told_by(diagnosis: Diagnosis) -> ServerStartError:
    return ServerStartError(diagnosis.title, cause="\n".join(diagnosis.cause_lines), remedy=diagnosis.remedy)

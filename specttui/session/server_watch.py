"""What runs on the host: found, followed, noticed when it goes; every server that serves becomes a run."""

from __future__ import annotations

from specttui.events import (
    Alert,
    Event,
    FailureSeen,
    FileState,
    Launch,
    LogKind,
    RunEnded,
    RunStarted,
    ServerExited,
    ServerFailed,
    ServerFound,
    ServerReady,
    ServerStarting,
    Severity,
    StartupStep,
    Worker,
    WorkerFileChecked,
)
from specttui.host.found import FoundServer, Problem
from specttui.host.remote import Remote
from specttui.host.sudo import Sudo
from specttui.host.tail import FromEnd
from specttui.launch import expected_effective, redact, server_port, spec_settings
from specttui.launch.nodes import NodePlace, node_place
from specttui.session.device_timers import DeviceTimers
from specttui.session.diagnosing import diagnosis_of
from specttui.session.emitter import Emitter
from specttui.session.finder import Finder
from specttui.session.launches import Launches
from specttui.session.log_pump import LogPump
from specttui.session.options import SessionOptions
from specttui.session.restarts import Restarter
from specttui.session.startup_progress import StartupProgress
from specttui.session.watch import Watch

#: A failure seen in the log this long before the process went is taken as its reason.
RECENT_S = 30.0

_LEFT_PATCHED = "The worker file is patched already, by an earlier session or another one"
_LEFT_REMEDY = "Go on with it, or restore the original with x."


class ServerWatch:
    """Finds the server, adopts what a restart brought up, and tells when it is gone.

    Args:
        remote: The host.
        emitter: Takes the events.
        pump: Follows the server's log.
        restarter: Starts and stops; told what runs.
        launches: Told of the launches.
        options: Which server and which log, where the user said so.
        sudo: For servers of other users.
    """

    def __init__(
        self,
        remote: Remote,
        emitter: Emitter,
        pump: LogPump,
        restarter: Restarter,
        launches: Launches,
        options: SessionOptions,
        sudo: Sudo | None = None,
    ) -> None:
        self._finder = Finder(remote, options, sudo)
        self._emitter = emitter
        self._pump = pump
        self._restarter = restarter
        self._launches = launches
        self._found: FoundServer | None = None
        #: What keeps the server that was met last from being restarted.
        self.obstacles: tuple[Problem, ...] = ()
        self._starting: StartupProgress | None = None
        self._worker = Worker()
        self._patched_found: set[str] = set()
        self._failure: tuple[float, FailureSeen] | None = None
        self._runs = 0
        self._timers = DeviceTimers(remote, emitter.state)
        self._watch = Watch(remote, emitter, self._watched, self._gone, self._look_at_timers)

    @property
    def worker_path(self) -> str:
        """The file that holds the worker's cycle: that of the server, or of the last speculative one."""
        return self._worker.path

    @property
    def worker_class(self) -> str:
        """The worker's class, "" when unknown."""
        return self._worker.class_name

    @property
    def place(self) -> NodePlace:
        """Which node of its server runs here; that of a server of its own while none is known."""
        launch = self._launches.current
        return node_place(launch, self._launches.config) if launch is not None else NodePlace()

    @property
    def patched(self) -> bool:
        """True while a file that was found patched has not been restored."""
        return bool(self._patched_found)

    def restored(self, path: str) -> None:
        """This file holds its original again."""
        self._patched_found.discard(path)

    def begin(self) -> None:
        """Look after the server from now on."""
        self._watch.begin()

    async def stop(self) -> None:
        """Look after nothing."""
        await self._watch.stop()

    def saw(self, event: Event) -> None:
        """Told of each event of the log."""
        if isinstance(event, FailureSeen) and event.fatal:
            self._failure = self._emitter.offset_s, event
        elif isinstance(event, StartupStep) and self._starting is not None:
            self._starting.take(event)
            if event.phase == "ready":
                self._is_ready()

    async def look(self, *, ask: bool = False) -> Problem | None:
        """Look for the server and follow it; the problem that stands in the way, or None.

        Args:
            ask: Ask for sudo's password where another user's server cannot be read without it.

        Raises:
            RemoteCommandError: The host cannot be looked at.
        """
        discovery = await self._finder.wanted(ask=ask)
        if not discovery.servers:
            return discovery.problems[0] if discovery.problems else Problem("No SGLang server was found.")
        found = discovery.servers[0]
        known = self._found if self._found is not None and self._found.pid == found.pid else None
        if known is not None and (known.restartable or not found.restartable):
            for problem in set(found.obstacles).difference(self.obstacles):
                self._warn(problem.text, problem.remedy)
            await self._go_on(known.or_fuller(found))
            return None
        if known is not None:
            self._launches.original = None  # what was known of it until now was not the whole launch
        self._adopt(found)
        for problem in discovery.problems:
            self._warn(problem.text, problem.remedy)
        await self._follow(found)
        return None

    async def serves(self, launch: Launch, label: str, changes: tuple[str, ...]) -> None:
        """A restart brought a server up: look at it, and let its run begin."""
        discovery = await self._finder.started(server_port(launch, self._launches.config), self._log_file())
        self._found = None
        if discovery.servers:
            self._adopt(discovery.servers[0])
        if self.obstacles:
            self._launches.serves(launch)  # all of it is known, whatever can be read of it
        self.obstacles = ()
        self._begin_run(launch, label, changes)

    def _log_file(self) -> str | None:
        """The file that is followed; a unit's or a container's log is found again by its own name."""
        source = self._pump.source
        return source.path if source is not None and source.kind is LogKind.FILE else None

    def _adopt(self, found: FoundServer) -> None:
        self._found = found
        self._emitter.secrets.learn(found.launch)
        self.obstacles = found.obstacles
        self._restarter.running = found
        config = dict(found.config) if found.config is not None else None
        self._launches.found(found.launch, config, found.info.sglang_version)
        self._emitter.emit(ServerFound(server=found.info))
        worker = found.info.worker
        if worker.path:
            self._worker = worker
            self._check(worker)

    def _check(self, worker: Worker) -> None:
        current = self._emitter.state.worker_file
        if current is not None and current.path == worker.path and current.sha256 == worker.sha256:
            return
        self._emitter.emit(
            WorkerFileChecked(
                path=worker.path, state=worker.state, sha256=worker.sha256, size_bytes=worker.size_bytes
            )
        )
        if worker.state is FileState.PATCHED:
            self._patched_found.add(worker.path)
            self._warn(_LEFT_PATCHED, _LEFT_REMEDY)
        elif worker.state is FileState.FOREIGN:
            self._warn("The worker file was changed by somebody else", "It is not patched as it is.")

    async def _follow(self, found: FoundServer) -> None:
        """Follow a server that we did not start: its log from near the end, and its run."""
        if found.serving or self._answers_nobody:
            self._starting = None
            self._begin_run(found.launch, self._launches.label_of(found.launch), ())
        else:
            self._still_loading(found)
        await self._pump.begin(found.info.log, FromEnd())

    def _still_loading(self, found: FoundServer) -> None:
        label = self._launches.label_of(found.launch)
        self._emitter.emit(
            ServerStarting(pid=found.pid, launch=redact(found.launch), label=f"{label}, still loading")
        )
        self._starting = StartupProgress(
            self._emitter,
            self._restarter.earlier_starts,
            speculative=not found.info.requested.is_baseline,
            adopted=True,
        )

    async def _go_on(self, found: FoundServer) -> None:
        """Looked at once more: what its log did not tell is seen now, and the log is read on."""
        if self._starting is not None and not found.serving:
            self._starting.tell()
        else:
            self._adopt(found)
            self._is_ready()
        if not self._pump.following:
            await self._pump.resume()

    def _is_ready(self) -> None:
        """The server that was still loading when we came serves now."""
        starting, self._starting = self._starting, None
        if starting is None or self._found is None:
            return
        self._restarter.learn(starting.learnt)
        self._emitter.emit(ServerReady(pid=self._found.pid))
        self._begin_run(self._found.launch, self._launches.label_of(self._found.launch), ())

    @property
    def _answers_nobody(self) -> bool:
        """True for a node of a larger server that is not its first: runs are the first one's."""
        return self.place.rank > 0

    def _begin_run(self, launch: Launch, label: str, changes: tuple[str, ...]) -> None:
        if self._answers_nobody:
            return
        self._runs += 1
        config = self._launches.config
        info = self._found.info if self._found is not None else None
        settings = info.effective if info is not None else expected_effective(spec_settings(launch, config))
        self._emitter.emit(
            RunStarted(
                run_id=self._runs,
                label=label,
                launch=redact(launch),
                settings=settings,
                changes=changes,
            )
        )

    def _watched(self) -> tuple[int, int] | None:
        """The server to watch: what was found last, unless a restart has ended it or is about to."""
        found = self._found
        if found is None or self._restarter.busy or self._restarter.running is not found:
            return None
        return found.pid, found.info.start_ticks

    async def _look_at_timers(self) -> None:
        """The cross-check with SGLang's own timers, where they are on."""
        if self._found is None or self._restarter.busy:
            return
        found = await self._timers.look(self._found.launch, self._found.pid, self._launches.config)
        if found is not None:
            self._emitter.emit(found)

    async def _gone(self, pid: int) -> None:
        """The server is no more, and it was not us."""
        self._found = self._starting = None
        self._restarter.running = None
        run = self._emitter.state.run
        if run is not None:
            self._emitter.emit(RunEnded(run_id=run.run_id, reason="the server ended"))
        failure = self._recent_failure()
        if failure is not None:
            self._emitter.emit(ServerFailed(diagnosis=diagnosis_of(failure)))
        self._emitter.emit(ServerExited(pid=pid, detail=f"process {pid} ended"))
        title = failure.title if failure else f"The server (process {pid}) ended"
        self._warn(
            title, "Start it again with r or u, or by hand and then look again with f5.", Severity.ERROR
        )

    def _recent_failure(self) -> FailureSeen | None:
        if self._failure is None or self._emitter.offset_s - self._failure[0] > RECENT_S:
            return None
        return self._failure[1]

    def _warn(self, message: str, remedy: str, severity: Severity = Severity.WARNING) -> None:
        self._emitter.emit(Alert(severity=severity, message=message, remedy=remedy))

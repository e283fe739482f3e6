"""A live session without its commands: wiring, life, and what the screen reads."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, datetime

from specttui import __version__
from specttui.errors import (
    ServerNotFoundError,
    SpecttuiError,
)
from specttui.events import (
    ConnectionDown,
    ConnectionRetrying,
    ConnectionUp,
    Event,
    Launch,
    ServerNotFound,
    SessionEnded,
    SessionStarted,
)
from specttui.host.link import Link
from specttui.host.managers.own_log import OwnLog
from specttui.host.prompts import Prompter
from specttui.host.server import ServerControl
from specttui.host.sudo import Sudo
from specttui.host.transport import reached
from specttui.launch.edits import Edit
from specttui.session.commands import CommandRunner
from specttui.session.crash_loop import CrashLoop
from specttui.session.draft_keeper import DraftKeeper
from specttui.session.emitter import Emitter
from specttui.session.folders import SessionFolder, create
from specttui.session.host_changes import HostChanges
from specttui.session.launches import Launches
from specttui.session.log_pump import LogPump
from specttui.session.options import SessionOptions
from specttui.session.recording import Recording
from specttui.session.restart_advice import RestartAdvice
from specttui.session.restart_flow import RestartFlow
from specttui.session.restarts import Restarter
from specttui.session.server_watch import ServerWatch
from specttui.session.startup_memory import StartupMemory
from specttui.session.worker_keeper import WorkerKeeper
from specttui.state.build import SnapshotBuilder
from specttui.state.session_state import SessionState
from specttui.state.snapshot import Series, Snapshot


class SessionCore:
    """Everything a live session is made of, its life, and what the screen reads; `Session` adds the commands.

    Args:
        options: What to connect to and how.
        prompter: Asked about host keys and for secrets.
        folder: The session's folder; a new one by default.
    """

    def __init__(
        self, options: SessionOptions, prompter: Prompter, folder: SessionFolder | None = None
    ) -> None:
        self.options = options
        self.readonly = options.readonly
        self.name = options.name or str(options.target)
        self.folder = folder or create(self.name, datetime.now(UTC))
        self.state = SessionState()
        self._builder = SnapshotBuilder()
        self._recording = Recording.create(self.folder.path)
        self.emitter = Emitter(self.state, self._recording, host=self.name)
        self._commands = CommandRunner(self.emitter, readonly=options.readonly)
        self._launches = Launches()
        self._link = Link(
            options.target,
            prompter,
            options.connect,
            on_up=self._connected,
            on_down=lambda cause: self.emitter.emit(ConnectionDown(reason=cause)),
            on_retry=lambda attempt, delay_s, why: self.emitter.emit(
                ConnectionRetrying(attempt=attempt, delay_s=delay_s, reason=why)
            ),
        )
        self._remote = reached(self._link, options.via)
        own_log = OwnLog(options.commands.log) if options.commands.log else None
        self._pump = LogPump(self._remote, self.emitter, self._saw, own_log)
        self._memory = StartupMemory(self.name)
        sudo = Sudo(self._remote, prompter, options.sudo)
        control = ServerControl(
            self._remote,
            self.folder.session_id,
            stop_limits=options.stop_limits,
            ready_limits=options.ready_limits,
            commands=options.commands,
            sudo=sudo,
        )
        self._restarter = Restarter(control, self.emitter, self._pump, self._launches, self._memory.load())
        self._keeper = WorkerKeeper(
            self._remote,
            self.emitter,
            self.folder.session_id,
            self.folder.backups_path,
            sudo=sudo,
            targets=options.targets,
        )
        self._watch = ServerWatch(
            self._remote, self.emitter, self._pump, self._restarter, self._launches, options
        )
        self._draft = DraftKeeper(
            self._remote, self._launches, self.folder.session_id, self.folder.backups_path, sudo
        )
        self._changes = HostChanges(
            self._remote, self.emitter, self._keeper, self._watch, self._draft, control.overrides
        )
        self._restarts = RestartFlow(
            self._commands,
            self.emitter,
            self._launches,
            self._restarter,
            self._watch,
            self._memory,
            RestartAdvice(self._remote, self._launches, control.ways),
            ours=self._ours,
            unpatch=self._changes.unpatch,
            roll_back=options.roll_back,
        )
        self._crash_loop = CrashLoop(
            self._commands,
            self.emitter,
            self._restarter,
            control.overrides,
            patched=lambda: self._changes.patched,
            unpatch=self._changes.unpatch,
        )
        self._started = False
        self._closed = False
        self._loads = 0

    # Life

    async def start(self) -> None:
        """Connect and find the server; may be called again after it failed.

        Raises:
            SpecttuiError: The host cannot be reached, or no server runs there.
        """
        if not self._started:
            self._started = True
            self.emitter.emit(
                SessionStarted(
                    session_id=self.folder.session_id,
                    target=self.name,
                    specttui_version=__version__,
                    mode=self.options.mode,
                )
            )
        if not self._link.up:
            await self._commands.run("connect", f"connect to {self.name}", self._connect, changes_host=False)
        await self.rediscover()
        self._watch.begin()

    async def _connect(self) -> None:
        try:
            await self._link.start()
        except SpecttuiError as error:
            self.emitter.emit(ConnectionDown(reason=error.title))
            raise

    async def rediscover(self) -> None:
        """Look for the server.

        Raises:
            ServerNotFoundError: None runs; the session stays connected and can look again.
        """
        await self._commands.run("discover", "look for the server", self._discover, changes_host=False)

    async def _discover(self) -> None:
        problem, _ = await asyncio.gather(self._watch.look(), self._changes.look())
        if problem is not None:
            self.emitter.emit(ServerNotFound(reason=problem.text, remedy=problem.remedy))
            raise ServerNotFoundError(problem.text, remedy=problem.remedy)

    async def close(self) -> None:
        """End the session: stop following, close the connection, complete the recording."""
        if self._closed:
            return
        self._closed = True
        await self._crash_loop.close()
        await self._commands.cancel()
        self._memory.save(self._restarter.earlier_starts)
        await self._watch.stop()
        await self._pump.stop()
        with suppress(SpecttuiError):
            await self._keeper.close()
        await self._draft.close()
        await self._link.close()
        if self._started:
            self.emitter.emit(SessionEnded(reason="closed"))
        self._recording.close()

    def _connected(self) -> None:
        reconnected = self.state.connection in {"down", "retrying"}
        self.emitter.emit(
            ConnectionUp(
                user=self.options.target.user or "",
                address=self.options.target.host,
                port=self.options.target.port or 22,
                reconnected=reconnected,
            )
        )

    def _saw(self, event: Event) -> None:
        self._restarter.saw(event)
        self._watch.saw(event)
        self._crash_loop.saw(event)

    # What the screen reads

    def snapshot(self) -> Snapshot:
        """The state as one immutable value."""
        return self._builder.build(self.state, self.emitter.offset_s)

    def history(self, metric: str) -> Series:
        """A metric over the whole session."""
        return self.state.history[metric].series()

    @property
    def launch(self) -> Launch | None:
        """The launch that runs or ran last, secrets included."""
        return self._launches.current

    @property
    def can_roll_back(self) -> bool:
        """True when a good launch is known that is not the one that runs."""
        return self._launches.can_roll_back

    @property
    def patched(self) -> bool:
        """True while a worker file on the host holds our block."""
        return self._changes.patched

    @property
    def changes_on_host(self) -> tuple[str, ...]:
        """What of ours is on the host and would stay there, one sentence each."""
        return self._changes.words

    def _ours(self) -> tuple[Edit, ...]:
        """What the probe's second way needs in the next launch."""
        current = self._launches.current
        return self._keeper.hook.edits(current) if current is not None else ()

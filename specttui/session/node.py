"""One host of a session: its connection, its server, its files, and all that works on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from specttui.errors import SpecttuiError, WorkerFileError
from specttui.events import Clock, ConnectionDown, ConnectionRetrying, ConnectionUp, Event
from specttui.host.hidden_log import HiddenLog
from specttui.host.link import Link
from specttui.host.managers.own_log import OwnLog
from specttui.host.prompts import Prompter
from specttui.host.server import ServerControl
from specttui.host.sudo import Sudo
from specttui.host.transport import reached
from specttui.launch.edits import Edit, LaunchDiff
from specttui.session.api import PatchPreview, ProbeWay
from specttui.session.crash_loop import CrashLoop
from specttui.session.draft_keeper import DraftKeeper
from specttui.session.emitter import Emitter
from specttui.session.host_changes import HostChanges
from specttui.session.launches import Launches
from specttui.session.log_pump import LogPump
from specttui.session.options import SessionOptions
from specttui.session.readers import unreadable_warning
from specttui.session.restart_advice import RestartAdvice
from specttui.session.restarts import Restarter
from specttui.session.server_watch import ServerWatch
from specttui.session.startup_memory import StartupMemory
from specttui.session.worker_keeper import WorkerKeeper


class Node:
    """What a session needs of one host; most sessions have just one.

    Args:
        options: What to connect to and how.
        prompter: Asked about host keys and for secrets.
        emitter: Takes this host's events.
        session_id: The session's id.
        launch_id: Names what launches leave on the host; hosts may share a home folder.
        backups_path: Where copies of this host's files go.
        crash_loop: Makes what ends a crash loop of this node's unit.
    """

    def __init__(
        self,
        options: SessionOptions,
        prompter: Prompter,
        emitter: Emitter,
        *,
        session_id: str,
        launch_id: str,
        backups_path: Path,
        crash_loop: Callable[[Node], CrashLoop],
    ) -> None:
        self.options = options
        self.name = options.shown_name
        self.emitter = emitter
        self.launches = Launches()
        self.link = Link(
            options.target,
            prompter,
            options.connect,
            on_up=self._connected,
            on_down=lambda cause: emitter.emit(ConnectionDown(reason=cause)),
            on_retry=lambda attempt, delay_s, why: emitter.emit(
                ConnectionRetrying(attempt=attempt, delay_s=delay_s, reason=why)
            ),
        )
        self.remote = reached(self.link, options.via)
        sudo = Sudo(self.remote, prompter, options.sudo)
        own_log = OwnLog(options.commands.log) if options.commands.log else HiddenLog(sudo)
        self.pump = LogPump(self.remote, emitter, self._saw, own_log)
        self._memory = StartupMemory(self.name)
        self.control = ServerControl(
            self.remote,
            launch_id,
            stop_limits=options.stop_limits,
            ready_limits=options.ready_limits,
            commands=options.commands,
            sudo=sudo,
        )
        self.restarter = Restarter(self.control, emitter, self.pump, self.launches, self._memory.load())
        self.keeper = WorkerKeeper(
            self.remote, emitter, session_id, backups_path, sudo=sudo, targets=options.targets
        )
        self.watch = ServerWatch(
            self.remote, emitter, self.pump, self.restarter, self.launches, options, sudo
        )
        self.draft = DraftKeeper(
            self.remote, self.launches, session_id, backups_path, sudo, self.keeper.beats
        )
        self.changes = HostChanges(
            self.remote, emitter, self.keeper, self.watch, self.draft, self.control.overrides
        )
        self.advice = RestartAdvice(
            self.remote, self.launches, self.control.ways, lambda: self.watch.obstacles
        )
        self.crash_loop = crash_loop(self)

    async def connect(self) -> None:
        """Connect; does nothing while the connection stands.

        Raises:
            SpecttuiError: The host cannot be reached.
        """
        if self.link.up:
            return
        try:
            await self.link.start()
        except SpecttuiError as error:
            self.emitter.emit(ConnectionDown(reason=error.title))
            raise

    def _connected(self) -> None:
        reconnected = self.emitter.state.connection in {"down", "retrying"}
        target = self.options.target
        self.emitter.emit(
            ConnectionUp(
                user=target.user or "",
                address=target.host,
                port=target.port or 22,
                reconnected=reconnected,
            )
        )

    def _saw(self, event: Event) -> None:
        self.restarter.saw(event)
        self.watch.saw(event)
        self.crash_loop.saw(event)

    def worker_path(self) -> str:
        """The file that holds the worker's cycle.

        Raises:
            WorkerFileError: None is known.
        """
        path = self.watch.worker_path
        if not path:
            raise WorkerFileError(
                "No worker file is known",
                cause="The server decodes without speculation, or none was found.",
                remedy="Restart with speculation first, or name the file: specttui restore HOST --file PATH",
            )
        return path

    async def preview_patch(self, clock: Clock, way: ProbeWay | None) -> PatchPreview:
        """Say what patching would do on this host; see `WorkerKeeper.preview`."""
        preview = await self.keeper.preview(self.worker_path(), self.watch.worker_class, clock, way)
        launch = self.launches.current
        user = launch.user if launch is not None else ""
        account = self.link.connection.user if self.link.connection is not None else ""
        if user in {"", "root", "0", account}:
            return preview
        warning = await unreadable_warning(self.remote, user, preview.way)
        return replace(preview, warnings=(*preview.warnings, warning)) if warning else preview

    def ours(self) -> tuple[Edit, ...]:
        """What the probe's second way needs in the next launch."""
        current = self.launches.current
        return self.keeper.hook.edits(current) if current is not None else ()

    def edited(self, edits: Sequence[Edit]) -> LaunchDiff:
        """What edits make of the current launch, without advice; see `Launches.edited`."""
        return self.launches.edited(edits, self.ours())

    def remember_starts(self) -> None:
        """Keep how long the phases of starts took here."""
        self._memory.save(self.restarter.earlier_starts)

    async def close(self) -> None:
        """Stop following, give locks back, close the connection."""
        self.remember_starts()
        await self.watch.stop()
        await self.pump.stop()
        with suppress(SpecttuiError):
            await self.keeper.close()
        await self.draft.close()
        await self.link.close()

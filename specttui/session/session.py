"""A live session: connects, finds the server, follows it, and carries out the user's commands."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from specttui import __version__
from specttui.errors import (
    ServerNotFoundError,
    SpecttuiError,
    WorkerFileError,
)
from specttui.events import (
    Clock,
    ConnectionDown,
    ConnectionRetrying,
    ConnectionUp,
    Event,
    Launch,
    NoteAdded,
    ProbeCostMeasured,
    ServerNotFound,
    SessionEnded,
    SessionStarted,
)
from specttui.host.link import Link
from specttui.host.managers.own_log import OwnLog
from specttui.host.prompts import Prompter
from specttui.host.ready import endpoint_of
from specttui.host.server import ServerControl
from specttui.host.sudo import Sudo
from specttui.host.transport import reached
from specttui.launch.edits import Edit, LaunchDiff
from specttui.session.api import DraftConfigView, PatchPreview, ProbeWay
from specttui.session.commands import CommandRunner
from specttui.session.crash_loop import CrashLoop
from specttui.session.draft_keeper import DraftKeeper
from specttui.session.emitter import Emitter
from specttui.session.export import write_report
from specttui.session.folders import SessionFolder, create
from specttui.session.host_changes import HostChanges
from specttui.session.launches import Launches
from specttui.session.load import LoadPlan, run_load
from specttui.session.log_pump import LogPump
from specttui.session.options import SessionOptions
from specttui.session.probe_cost import measure_probe_cost
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

#: How the probe's cost is measured: about a minute and a half in all.
COST_PAIRS = 4
COST_STRETCH_S = 8.0

_WAYS: dict[ProbeWay, str] = {
    "file": "in the file; takes effect at the next restart (r)",
    "import_hook": "by an import hook, no file changed; takes effect at the next restart (r)",
}


class Session:
    """The commands of `SessionApi` on a real host.

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

    async def close(self) -> None:
        """End the session: stop following, close the connection, complete the recording."""
        if self._closed:
            return
        self._closed = True
        await self._crash_loop.close()
        await self._commands.cancel()
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

    # Commands

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

    async def back_up(self) -> str:
        """Copy the worker file beside itself and into the session folder."""
        path = self._worker_path()
        backup = await self._commands.run(
            "back up",
            f"copy {path}",
            lambda: self._keeper.back_up(path),
            done=lambda made: f"{made.remote_path} and {made.local_path}",
        )
        return backup.remote_path

    async def preview_patch(self, clock: Clock = Clock.EVENTS, way: ProbeWay | None = None) -> PatchPreview:
        """Say what patching would do."""
        return await self._keeper.preview(self._worker_path(), self._watch.worker_class, clock, way)

    async def patch(self, clock: Clock = Clock.EVENTS, way: ProbeWay | None = None) -> None:
        """Put the block into the worker file; takes effect at the next start."""
        path, worker = self._worker_path(), self._watch.worker_class
        await self._commands.run(
            "patch",
            f"append the probe to {path}, clock {clock.value}",
            lambda: self._keeper.patch(path, worker, clock, way),
            done=lambda taken: _WAYS[taken],
        )

    async def restore(self) -> None:
        """Bring the original of everything back that we changed on the host, or found changed."""
        plan = self._changes.plan(self._worker_path)
        await self._commands.run(
            "restore",
            f"bring the original of {', '.join(plan)} back",
            lambda: self._changes.restore(self._worker_path),
            done=lambda _: "byte for byte the original; the running server keeps the probe until it restarts",
        )

    def preview_restart(self, edits: Sequence[Edit]) -> LaunchDiff:
        """What a restart with these edits would run."""
        return self._restarts.preview(edits)

    def _ours(self) -> tuple[Edit, ...]:
        """What the probe's second way needs in the next launch."""
        current = self._launches.current
        return self._keeper.hook.edits(current) if current is not None else ()

    async def restart(self, edits: Sequence[Edit], *, retry_hung: bool = False) -> None:
        """Stop the server, start it with the edits, wait until it serves."""
        await self._restarts.restart(edits, retry_hung=retry_hung)

    async def restart_last_good(self) -> None:
        """Start the last launch whose server became ready."""
        await self._restarts.last_good()

    def extend_start(self, seconds: float) -> None:
        """Wait so much longer for the server that is being started."""
        self._restarts.extend(seconds)

    async def view_draft_config(self) -> DraftConfigView:
        """Read the draft model's config.json."""
        return await self._draft.view()

    async def edit_draft_config(self, text: str) -> None:
        """Write the draft model's config.json; takes effect at the next start."""
        await self._commands.run(
            "edit draft config",
            "back up and rewrite the draft model's config.json",
            lambda: self._draft.edit(text),
            done=lambda changed: f"{changed}; takes effect at the next restart (r)",
        )

    async def restore_draft_config(self) -> None:
        """Bring the original of the draft model's config.json back."""
        await self._commands.run(
            "restore draft config",
            "bring the original of the draft model's config.json back",
            self._draft.restore,
            done=lambda paths: ", ".join(paths) or "it holds its original",
        )

    async def set_clock(self, clock: Clock) -> None:
        """Switch the running probe to another clock, or off."""
        await self._commands.run("clock", f"probe clock {clock.value}", lambda: self._keeper.set_clock(clock))

    async def measure_probe_cost(self) -> None:
        """Switch the probe off and on in turn, and compare cycle times."""
        await self._commands.run(
            "probe cost",
            "switch the probe off and on in turn under the present traffic",
            self._measure_probe_cost,
            done=lambda cost: f"{100 * cost.change:+.1f} % of the cycle",
        )

    async def _measure_probe_cost(self) -> ProbeCostMeasured:
        probe = self.state.probe
        if probe.status not in {"live", "off"}:
            raise SpecttuiError(
                "No probe runs whose cost could be measured",
                remedy="Patch the worker file (p) and restart (r) first.",
            )
        clock = probe.clock if probe.clock not in {None, Clock.OFF} else Clock.EVENTS
        cost = await measure_probe_cost(
            self.state,
            lambda: self.emitter.offset_s,
            self._keeper.set_clock,
            clock=clock or Clock.EVENTS,
            pairs=COST_PAIRS,
            stretch_s=COST_STRETCH_S,
        )
        self.emitter.emit(cost)
        return cost

    async def run_load(self, concurrency: int, requests: int, max_new_tokens: int) -> None:
        """Send the bundled prompts to the server."""
        server, launch = self.state.server, self.launch
        if server is None or launch is None:
            raise ServerNotFoundError("No server is known to send load to", remedy="Look for one first.")
        endpoint = endpoint_of(launch, self._launches.config)
        plan = LoadPlan(
            concurrency=concurrency,
            requests=requests,
            max_new_tokens=max_new_tokens,
            port=endpoint.port,
            host=_reachable(endpoint.host),
            tls=endpoint.tls,
            api_key=endpoint.api_key,
            interpreter=server.interpreter,
        )
        self._loads += 1
        load_id = self._loads
        await self._commands.run(
            "load",
            f"{requests} requests, {concurrency} at a time, {max_new_tokens} tokens each",
            lambda: self._load(plan, load_id),
        )

    async def _load(self, plan: LoadPlan, load_id: int) -> None:
        result = await run_load(self._remote, plan, self.emitter.emit, load_id=load_id)
        if result.finished.error and not result.requests:
            raise SpecttuiError(
                "The load failed",
                cause=result.finished.error,
                remedy="See the server's log; try fewer requests at a time.",
            )

    async def add_note(self, text: str) -> None:
        """Put a note into the recording and the report."""
        self.emitter.emit(NoteAdded(text=text))

    async def export(self, path: Path | None = None) -> Path:
        """Write the session as markdown; returns where."""
        return await self._commands.run(
            "export",
            str(path or self.folder.report_path),
            lambda: self._export(path),
            changes_host=False,
            done=str,
        )

    async def _export(self, path: Path | None) -> Path:
        return write_report(self.folder.path, path)

    async def cancel(self) -> None:
        """Cancel the command in progress at its next safe point."""
        await self._commands.cancel()

    def _worker_path(self) -> str:
        path = self._watch.worker_path
        if not path:
            raise WorkerFileError(
                "No worker file is known",
                cause="The server decodes without speculation, or none was found.",
                remedy="Restart with speculation first, or name the file: specttui restore HOST --file PATH",
            )
        return path


def _reachable(host: str) -> str:
    """The address at which the host itself reaches what listens on all addresses."""
    return "127.0.0.1" if host in {"", "0.0.0.0", "::"} else host  # noqa: S104 - compared, not bound

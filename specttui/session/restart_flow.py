"""The restart commands: checked beforehand, remembered when they fail, rolled back where that is wished."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from specttui.errors import ServerStartError, SpecttuiError, UsageError
from specttui.events import Alert, Launch, Severity
from specttui.launch.edits import Edit, LaunchDiff
from specttui.session.commands import CommandRunner
from specttui.session.emitter import Emitter
from specttui.session.launches import Launches
from specttui.session.restart_advice import RestartAdvice
from specttui.session.restarts import Restarter
from specttui.session.server_watch import ServerWatch
from specttui.session.startup_memory import StartupMemory

_BACK = ("back to the last good configuration",)


class RestartFlow:
    """Carries out the session's restart commands.

    Args:
        commands: Frames them.
        emitter: Takes the events.
        launches: Knows what ran.
        restarter: Stops and starts.
        watch: Told of servers that serve.
        memory: Keeps how long starts take.
        advice: Speaks for and against restarts.
        ours: What the probe needs in the next launch.
        unpatch: Brings the original worker file back, when our own probe kept a server from starting.
        roll_back: Start the last good launch by itself when another one does not come up.
    """

    def __init__(
        self,
        commands: CommandRunner,
        emitter: Emitter,
        launches: Launches,
        restarter: Restarter,
        watch: ServerWatch,
        memory: StartupMemory,
        advice: RestartAdvice,
        *,
        ours: Callable[[], tuple[Edit, ...]],
        unpatch: Callable[[], Awaitable[None]],
        roll_back: bool = False,
    ) -> None:
        self._commands = commands
        self._emitter = emitter
        self._launches = launches
        self._restarter = restarter
        self._watch = watch
        self._memory = memory
        self._advice = advice
        self._ours = ours
        self._unpatch = unpatch
        self._roll_back = roll_back

    def preview(self, edits: Sequence[Edit]) -> LaunchDiff:
        """What a restart with these edits would run, and what speaks against it."""
        return self._advice.of(self._launches.edited(edits, self._ours()), self._restarter.manager)

    async def restart(self, edits: Sequence[Edit], *, retry_hung: bool = False) -> None:
        """Stop the server, start it with the edits, wait until it serves; see `SessionApi.restart`."""
        ours = self._ours()
        diff = self._launches.edited(edits, ours)
        await self._commands.run(
            "restart",
            "; ".join(diff.changes) or "the same command again",
            lambda: self._checked(diff, self._launches.result_of(edits, ours), retry_hung=retry_hung),
            done=lambda _: diff.label,
        )

    async def last_good(self) -> None:
        """Start the last launch whose server became ready; see `SessionApi.restart_last_good`."""
        launch = self._launches.last_good
        if launch is None:
            raise ServerStartError(
                "No launch is known that worked", remedy="Start the server by hand, then look again (f5)."
            )
        label = self._launches.label_of(launch)
        await self._commands.run(
            "roll back", f"restart as {label}", lambda: self._bring_up(launch, label, _BACK)
        )

    def extend(self, seconds: float) -> None:
        """Wait so much longer for the start in progress.

        Raises:
            UsageError: No server is starting, or the time is none.
        """
        if seconds <= 0:
            raise UsageError("The time to wait longer must be positive", cause=f"got {seconds:g} s")
        if not self._restarter.extend(seconds):
            raise UsageError(
                "No server is being started", remedy="There is nothing to wait longer for; restart with r."
            )
        text = f"Waiting up to {seconds / 60:g} min more for the server to start"
        self._emitter.emit(Alert(severity=Severity.INFO, message=text))

    async def _checked(self, diff: LaunchDiff, launch: Launch, *, retry_hung: bool) -> None:
        await self._advice.check(diff, retry_hung=retry_hung)
        try:
            await self._bring_up(launch, diff.label, diff.changes)
        except ServerStartError as error:
            if not self._roll_back:
                raise
            raise await self._back_after(error) from error

    async def _bring_up(self, launch: Launch, label: str, changes: tuple[str, ...]) -> None:
        try:
            await self._restarter.restart(launch, label)
        except ServerStartError:
            failure = self._emitter.state.failure
            self._advice.failed(launch, failure.category if failure is not None else "")
            raise
        finally:
            self._memory.save(self._restarter.earlier_starts)
        await self._watch.serves(launch, label, changes)

    async def _back_after(self, error: ServerStartError) -> ServerStartError:
        """Start the last good launch, once, and make the error that tells both stories."""
        launch = self._launches.last_good
        failure = self._emitter.state.failure
        in_probe = failure is not None and failure.in_probe
        if launch is None or not (self._launches.can_roll_back or in_probe):
            return error
        if in_probe and (kept := await self._unpatched()) is not None:
            return ServerStartError(
                error.title, cause=f"{error.cause}\n{kept}", remedy="Restore it by hand (x), then press u."
            )
        label = self._launches.label_of(launch)
        text = f"{error.title}: starting the last good configuration ({label}) again"
        self._emitter.emit(Alert(severity=Severity.WARNING, message=text, remedy=error.remedy))
        try:
            await self._bring_up(launch, label, _BACK)
        except SpecttuiError as second:
            return ServerStartError(
                f"{error.title}; the last good configuration did not come up either",
                cause="\n".join(text for text in (error.cause, second.title, second.cause) if text),
                remedy=f"No server runs. {second.remedy}".strip(),
            )
        serves = f"The last good configuration ({label}) serves again."
        return ServerStartError(error.title, cause=error.cause, remedy=f"{serves} {error.remedy}".strip())

    async def _unpatched(self) -> str | None:
        """Bring the original worker file back; what kept it from being done, or None."""
        try:
            await self._unpatch()
        except SpecttuiError as error:
            return error.title
        return None

"""The restart commands: checked beforehand, remembered when they fail, rolled back where that is wished."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from specttui.errors import LaunchError, ServerStartError, SpecttuiError, UsageError
from specttui.events import Alert, Severity
from specttui.launch.edits import Edit, LaunchDiff
from specttui.session.commands import CommandRunner
from specttui.session.emitter import Emitter
from specttui.session.node import Node
from specttui.session.node_diffs import refusal_of, with_other_nodes
from specttui.session.node_restart import NodeRestart, restart_together
from specttui.session.together import on_each

_BACK = ("back to the last good configuration",)


class RestartFlow:
    """Carries out the session's restart commands, on all nodes of the server as one.

    Args:
        commands: Frames them.
        emitter: Takes the session's events.
        nodes: The hosts, the one that answers clients first; the session may put them into another order.
        unpatch: Brings the original worker files back, when our own probe kept a server from starting.
        roll_back: Start the last good launch by itself when another one does not come up.
    """

    def __init__(
        self,
        commands: CommandRunner,
        emitter: Emitter,
        nodes: list[Node],
        *,
        unpatch: Callable[[], Awaitable[None]],
        roll_back: bool = False,
    ) -> None:
        self._commands = commands
        self._emitter = emitter
        self._nodes = nodes
        self._unpatch = unpatch
        self._roll_back = roll_back

    @property
    def _head(self) -> Node:
        return self._nodes[0]

    def preview(self, edits: Sequence[Edit]) -> LaunchDiff:
        """What a restart with these edits would run, and what speaks against it."""
        diffs = [node.advice.of(node.edited(edits), node.restarter.manager) for node in self._nodes]
        diff = with_other_nodes(diffs, [node.name for node in self._nodes])
        refusal = refusal_of(self._head.emitter.state.server, len(self._nodes), edits)
        return replace(diff, errors=(*diff.errors, refusal)) if refusal else diff

    async def restart(self, edits: Sequence[Edit], *, retry_hung: bool = False) -> None:
        """Stop the server, start it with the edits, wait until it serves; see `SessionApi.restart`."""
        diff = self._head.edited(edits)
        await self._commands.run(
            "restart",
            "; ".join(diff.changes) or "the same command again",
            lambda: self._checked(diff, edits, retry_hung=retry_hung),
            done=lambda _: diff.label,
        )

    async def last_good(self) -> None:
        """Start the last launch whose server became ready; see `SessionApi.restart_last_good`."""
        if any(node.launches.last_good is None for node in self._nodes):
            raise ServerStartError(
                "No launch is known that worked", remedy="Start the server by hand, then look again (f5)."
            )
        for node in self._nodes:
            node.advice.check_known()
        restarts = self._last_good_ones()
        label = restarts[0].label
        await self._commands.run("roll back", f"restart as {label}", lambda: self._bring_up(restarts))

    def extend(self, seconds: float) -> None:
        """Wait so much longer for the start in progress.

        Raises:
            UsageError: No server is starting, or the time is none.
        """
        if seconds <= 0:
            raise UsageError("The time to wait longer must be positive", cause=f"got {seconds:g} s")
        if not any([node.restarter.extend(seconds) for node in self._nodes]):  # noqa: C419 - every one of them
            raise UsageError(
                "No server is being started", remedy="There is nothing to wait longer for; restart with r."
            )
        text = f"Waiting up to {seconds / 60:g} min more for the server to start"
        self._emitter.emit(Alert(severity=Severity.INFO, message=text))

    async def _checked(self, diff: LaunchDiff, edits: Sequence[Edit], *, retry_hung: bool) -> None:
        refusal = refusal_of(self._head.emitter.state.server, len(self._nodes), edits)
        if refusal:
            raise LaunchError("This restart would break the server", cause=refusal)
        await on_each(self._nodes, lambda node: node.advice.check(node.edited(edits), retry_hung=retry_hung))
        restarts = [
            NodeRestart(node, node.launches.result_of(edits, node.ours()), diff.label, diff.changes)
            for node in self._nodes
        ]
        try:
            await self._bring_up(restarts)
        except ServerStartError as error:
            if not self._roll_back:
                raise
            raise await self._back_after(error) from error

    async def _bring_up(self, restarts: Sequence[NodeRestart]) -> None:
        try:
            await restart_together(restarts)
        finally:
            for node in self._nodes:
                node.remember_starts()

    def _last_good_ones(self) -> list[NodeRestart]:
        return [
            NodeRestart(node, launch, node.launches.label_of(launch), _BACK)
            for node in self._nodes
            if (launch := node.launches.last_good) is not None
        ]

    async def _back_after(self, error: ServerStartError) -> ServerStartError:
        """Start the last good launch, once, and make the error that tells both stories."""
        failure = self._head.emitter.state.failure
        in_probe = failure is not None and failure.in_probe
        restarts = self._last_good_ones()
        if len(restarts) < len(self._nodes) or not (self._head.launches.can_roll_back or in_probe):
            return error
        if in_probe and (kept := await self._unpatched()) is not None:
            return ServerStartError(
                error.title, cause=f"{error.cause}\n{kept}", remedy="Restore it by hand (x), then press u."
            )
        label = restarts[0].label
        text = f"{error.title}: starting the last good configuration ({label}) again"
        self._emitter.emit(Alert(severity=Severity.WARNING, message=text, remedy=error.remedy))
        try:
            await self._bring_up(restarts)
        except SpecttuiError as second:
            return ServerStartError(
                f"{error.title}; the last good configuration did not come up either",
                cause="\n".join(text for text in (error.cause, second.title, second.cause) if text),
                remedy=f"No server runs. {second.remedy}".strip(),
            )
        serves = f"The last good configuration ({label}) serves again."
        return ServerStartError(error.title, cause=error.cause, remedy=f"{serves} {error.remedy}".strip())

    async def _unpatched(self) -> str | None:
        """Bring the original worker files back; what kept it from being done, or None."""
        try:
            await self._unpatch()
        except SpecttuiError as error:
            return error.title
        return None

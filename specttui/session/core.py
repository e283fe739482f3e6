"""A live session without its commands: its hosts, its life, and what the screen reads."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from specttui import __version__
from specttui.errors import ServerNotFoundError, UsageError
from specttui.events import (
    Alert,
    Launch,
    NodesArranged,
    ServerNotFound,
    SessionEnded,
    SessionStarted,
    Severity,
)
from specttui.host.prompts import Prompter
from specttui.launch.nodes import arranged
from specttui.session.api import Leftover
from specttui.session.commands import CommandRunner
from specttui.session.crash_loop import CrashLoop
from specttui.session.emitter import Emitter
from specttui.session.folders import SessionFolder, create
from specttui.session.node import Node
from specttui.session.options import SessionOptions
from specttui.session.recording import Recording
from specttui.session.restart_flow import RestartFlow
from specttui.session.together import in_turn, on_each
from specttui.state.build import SnapshotBuilder
from specttui.state.node_states import NodeStates
from specttui.state.node_view import snapshot_of
from specttui.state.session_state import SessionState
from specttui.state.snapshot import Series, Snapshot


class SessionCore:
    """Everything a live session is made of, its life, and what the screen reads; `Session` adds the commands.

    Args:
        options: What to connect to and how.
        prompter: Asked about host keys and for secrets.
        folder: The session's folder; a new one by default.
        others: The other hosts of a server that spans several.

    Raises:
        UsageError: A host is named twice.
    """

    def __init__(
        self,
        options: SessionOptions,
        prompter: Prompter,
        folder: SessionFolder | None = None,
        *,
        others: Sequence[SessionOptions] = (),
    ) -> None:
        hosts = (options, *others)
        self.hosts = tuple(host.shown_name for host in hosts)
        if len(set(self.hosts)) < len(hosts):
            raise UsageError("A host is named twice", cause=", ".join(self.hosts), remedy="Name each once.")
        self.options = options
        self.readonly = any(host.readonly for host in hosts)
        self.name = " ".join(self.hosts)
        self.folder = folder or create(
            "+".join(name.rpartition("@")[2] for name in self.hosts), datetime.now(UTC)
        )
        self.states = NodeStates()
        self.states.begin(self.hosts)
        self._builder = SnapshotBuilder()
        self._recording = Recording.create(self.folder.path)
        self.emitter = Emitter(self.states.session, self._recording, host=self.name, fold=self.states.apply)
        self._commands = CommandRunner(self.emitter, readonly=self.readonly)
        self.nodes = [self._node(host, prompter, number) for number, host in enumerate(hosts)]
        self._restarts = RestartFlow(
            self._commands,
            self.emitter,
            self.nodes,
            unpatch=self._unpatch,
            roll_back=any(host.roll_back for host in hosts),
        )
        self._started = False
        self._closed = False
        self._loads = 0

    def _node(self, options: SessionOptions, prompter: Prompter, number: int) -> Node:
        several = len(self.hosts) > 1
        name, session_id = options.shown_name, self.folder.session_id
        return Node(
            options,
            prompter,
            self.emitter.beside(self.states.of(name), name) if several else self.emitter,
            session_id=session_id,
            launch_id=f"{session_id}-{number}" if several else session_id,
            backups_path=self.folder.backups_of(number, name) if several else self.folder.backups_path,
            crash_loop=self._crash_loop,
        )

    def _crash_loop(self, node: Node) -> CrashLoop:
        return CrashLoop(
            self._commands,
            node.emitter,
            node.restarter,
            node.control.overrides,
            patched=lambda: node.changes.patched,
            unpatch=self._unpatch,
        )

    @property
    def head(self) -> Node:
        """The node that answers clients; of several, the first named until that is known."""
        return self.nodes[0]

    @property
    def state(self) -> SessionState:
        """What is known of the server, as its head tells it."""
        return self.states.head

    # Life

    async def start(self) -> None:
        """Connect and find the server; may be called again after it failed.

        Raises:
            SpecttuiError: A host cannot be reached, or no server runs there.
        """
        if not self._started:
            self._started = True
            self.emitter.emit(
                SessionStarted(
                    session_id=self.folder.session_id,
                    target=self.name,
                    specttui_version=__version__,
                    mode=self.options.mode,
                    nodes=self.hosts if len(self.hosts) > 1 else (),
                )
            )
        if not all(node.link.up for node in self.nodes):
            await self._commands.run("connect", f"connect to {self.name}", self._connect, changes_host=False)
        await self._find(ask=False)
        for node in self.nodes:
            node.watch.begin()

    async def _connect(self) -> None:
        # One after the other: each may ask for a password or a code.
        for node in self.nodes:
            await node.connect()

    async def rediscover(self) -> None:
        """Look for the server; another user's may ask for sudo's password.

        Raises:
            ServerNotFoundError: None runs; the session stays connected and can look again.
        """
        await self._find(ask=True)

    async def _find(self, *, ask: bool) -> None:
        await self._commands.run(
            "discover", "look for the server", lambda: self._discover(ask=ask), changes_host=False
        )

    async def _discover(self, *, ask: bool) -> None:
        await on_each(self.nodes, lambda node: self._look(node, ask=ask))
        if len(self.nodes) > 1:
            self._arrange()
        elif (found := self.head.emitter.state.server) is not None and found.node_count > 1:
            self._tell_lone_node(found.node_rank, found.node_count)

    async def _look(self, node: Node, *, ask: bool) -> None:
        problem, _ = await asyncio.gather(node.watch.look(ask=ask), node.changes.look())
        if problem is not None:
            node.emitter.emit(ServerNotFound(reason=problem.text, remedy=problem.remedy))
            raise ServerNotFoundError(problem.text, remedy=problem.remedy)

    def _arrange(self) -> None:
        """Put the nodes into the order of their ranks: the first answers clients."""
        by_name = {node.name: node for node in self.nodes}
        order = arranged({name: node.watch.place for name, node in by_name.items()})
        self.nodes[:] = [by_name[name] for name in order]
        if not self.states.arranged or self.states.names != order:
            self.emitter.emit(NodesArranged(nodes=order))

    def _tell_lone_node(self, rank: int, count: int) -> None:
        self.emitter.emit(
            Alert(
                severity=Severity.WARNING,
                message=f"This is node {rank} of a server on {count} hosts",
                remedy=f"To patch and restart it as a whole, name all {count}: specttui HOST1 HOST2 ...",
            )
        )

    async def close(self) -> None:
        """End the session: stop following, close the connections, complete the recording."""
        if self._closed:
            return
        self._closed = True
        for node in self.nodes:
            await node.crash_loop.close()
        await self._commands.cancel()
        await asyncio.gather(*(node.close() for node in self.nodes))
        if self._started:
            self.emitter.emit(SessionEnded(reason="closed"))
        self._recording.close()

    # What the screen reads

    def snapshot(self) -> Snapshot:
        """The state as one immutable value."""
        return snapshot_of(self._builder, self.states, self.emitter.offset_s)

    def history(self, metric: str) -> Series:
        """A metric over the whole session."""
        return self.state.history[metric].series()

    @property
    def launch(self) -> Launch | None:
        """The launch that runs or ran last, secrets included; the head's, of several."""
        return self.head.launches.current

    @property
    def can_roll_back(self) -> bool:
        """True when a good launch is known that is not the one that runs; any, while none runs."""
        launches, restarter = self.head.launches, self.head.restarter
        gone = restarter.running is None and not restarter.busy
        return launches.can_roll_back or (gone and launches.last_good is not None)

    @property
    def patched(self) -> bool:
        """True while a worker file on a host holds our block."""
        return any(node.changes.patched for node in self.nodes)

    @property
    def changes_on_host(self) -> tuple[str, ...]:
        """What of ours is on the hosts and would stay there, one sentence each."""
        if len(self.nodes) == 1:
            return self.head.changes.words
        return tuple(f"{node.name}: {words}" for node in self.nodes for words in node.changes.words)

    @property
    def leftovers(self) -> tuple[Leftover, ...]:
        """What other sessions left on the hosts, or still use, and nothing was decided about yet."""
        if len(self.nodes) == 1:
            return self.head.changes.leftovers
        return tuple(replace(left, host=node.name) for node in self.nodes for left in node.changes.leftovers)

    async def _unpatch(self) -> None:
        """Bring the original worker files back on every host."""
        await in_turn(self.nodes, lambda node: node.changes.unpatch())

"""One restart of a whole server: every node with its own launch, all of them or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specttui.errors import ServerStartError, SpecttuiError
from specttui.events import Diagnosis, Launch, ServerFailed
from specttui.session.convoy import Convoy, all_of
from specttui.session.node import Node
from specttui.session.together import named

#: Failures that a node shows when another one went: they explain nothing while there is any other.
_FOLLOWS_FROM_OTHERS = frozenset(
    {
        "nccl", "peer_lost", "collective_timeout", "watchdog", "subprocess_crashed", "scheduler_dead",
        "sigquit", "exited", "hung", "silent",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class NodeRestart:
    """A node and what is started there: the full launch, its short name, the changes in words."""

    node: Node
    launch: Launch
    label: str
    changes: tuple[str, ...]


async def restart_together(restarts: Sequence[NodeRestart]) -> None:
    """Restart the nodes in step, and let the run begin when the server answers.

    Args:
        restarts: All nodes of the server, the one that answers clients first.

    Raises:
        SpecttuiError: One node failed; what the others had started was ended. Its title names the node
            where there are several.
    """
    convoy = Convoy(len(restarts))
    works = [each.node.restarter.restart(each.launch, each.label, convoy) for each in restarts]
    culprit = _Culprit(restarts)
    try:
        await all_of(works, culprit.among)
    except SpecttuiError as error:
        culprit.learn(error)
        named(culprit.node, error, [each.node for each in restarts])
        raise
    for each in restarts:
        await each.node.watch.serves(each.launch, each.label, each.changes)


class _Culprit:
    """The node whose failure is the cause of the others'."""

    def __init__(self, restarts: Sequence[NodeRestart]) -> None:
        self._restarts = restarts
        self.node = restarts[0].node

    def among(self, failed: Sequence[int]) -> int:
        """Of the nodes that failed by themselves, the one that says why."""
        telling = [number for number in failed if self._category(number) not in _FOLLOWS_FROM_OTHERS]
        found = (telling or list(failed))[0]
        self.node = self._restarts[found].node
        return found

    def _category(self, number: int) -> str:
        failure = self._restarts[number].node.emitter.state.failure
        return failure.category if failure is not None else "exited"

    def learn(self, error: SpecttuiError) -> None:
        """What the failure teaches, on every node; the head's state tells of it too."""
        failure = self.node.emitter.state.failure
        if not isinstance(error, ServerStartError) or failure is None:
            return
        for each in self._restarts:
            each.node.advice.failed(each.launch, failure.category)
        head = self._restarts[0].node
        if head is not self.node:
            head.emitter.emit(ServerFailed(diagnosis=_at(self.node.name, failure)))


def _at(name: str, failure: Diagnosis) -> Diagnosis:
    return failure.model_copy(update={"title": f"{name}: {failure.title}"})

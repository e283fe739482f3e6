"""The hosts of a server that spans several, in words: what each is doing, and which deserve a look.

What is wrong is written in capitals, so that it stands out without its colour.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specttui.events import FileState
from specttui.state.snapshot import NodeRow
from specttui.ui.render import figures
from specttui.ui.render.text import BAD, GOOD, MUTED, WARN, harmless

#: Phases of a start-up in one or two words, for tables; `progress.STARTUP_NAMES` has them in full.
STARTUP_WORDS = {
    "init": "processes",
    "distributed": "joining ranks",
    "weights": "weights",
    "draft_weights": "draft weights",
    "kv_cache": "KV cache",
    "graphs": "graphs",
    "draft_graphs": "draft graphs",
    "extend_graphs": "extend graphs",
    "warmup": "warm-up",
    "ready": "ready",
}


@dataclass(frozen=True, slots=True)
class Word:
    """A state in a word, its style, and how much it calls for a look: 0 is not at all."""

    text: str
    style: str
    trouble: int = 0


_CONNECTIONS = {
    "connecting": Word("connecting", WARN),
    "retrying": Word("RECONNECTING", WARN, 2),
    "down": Word("DISCONNECTED", BAD, 3),
    "up": Word("connected", MUTED),
}
_SERVERS = {
    "unknown": Word("looking", MUTED),
    "none": Word("NO SERVER", BAD, 3),
    "starting": Word("starting", WARN),
    "serving": Word("serving", GOOD),
    "stopping": Word("stopping", WARN),
    "exited": Word("EXITED", BAD, 3),
    "failed": Word("FAILED", BAD, 4),
}
_PROBES = {"failed": Word("FAILED", BAD, 2), "silent": Word("SILENT", WARN, 1)}
_UNKNOWN = Word(figures.MISSING, MUTED)


def connection_word(node: NodeRow) -> Word:
    """How we are connected to it."""
    return _CONNECTIONS.get(node.connection, _UNKNOWN)


def server_word(node: NodeRow) -> Word:
    """What its part of the server does; what was known before the connection went says nothing."""
    return _SERVERS.get(node.server_phase, _UNKNOWN) if _in_touch(node) else _UNKNOWN


def state_word(node: NodeRow) -> Word:
    """The one word on it: its connection where that is the news, else its server."""
    return server_word(node) if _in_touch(node) else connection_word(node)


def file_word(node: NodeRow, nodes: Sequence[NodeRow]) -> Word:
    """Its worker file. An original among patched ones is trouble: those ranks would not be timed."""
    if node.file_state is None or node.file_state is FileState.UNKNOWN:
        return _UNKNOWN
    if node.file_state is FileState.FOREIGN:
        return Word("FOREIGN", BAD, 2)
    if node.file_state is FileState.PATCHED:
        return Word("patched", WARN)
    alone = any(other.file_state is FileState.PATCHED for other in nodes)
    return Word("ORIGINAL", WARN, 1) if alone else Word("original", GOOD)


def probe_word(node: NodeRow) -> Word:
    """Its probe."""
    return _PROBES.get(node.probe, Word(node.probe, MUTED))


def doing(node: NodeRow) -> str:
    """What it is doing, or what went wrong, beside its state: a start-up's step, a server's last words."""
    if not _in_touch(node) or node.server_phase != "starting" or not node.startup_phase:
        return harmless(node.detail)
    step = STARTUP_WORDS.get(node.startup_phase, harmless(node.startup_phase))
    return f"{step} {counted(node)}".strip()


def counted(node: NodeRow) -> str:
    """Items done of the step of its start-up, "61 of 163"; "" without a bar."""
    if node.startup_done is None or not node.startup_total:
        return ""
    return f"{node.startup_done} of {node.startup_total}"


def rank_text(node: NodeRow) -> str:
    """Its number in the server."""
    return figures.MISSING if node.rank is None else str(node.rank)


def trouble(node: NodeRow, nodes: Sequence[NodeRow]) -> int:
    """How much it calls for a look; 0 where all is well."""
    words = (state_word(node), file_word(node, nodes), probe_word(node))
    return max(word.trouble for word in words)


def cycle_ms(node: NodeRow) -> float | None:
    """Its slowest rank's median cycle in ms, while it serves."""
    return figures.finite(node.slowest_cycle_ms) if _in_touch(node) else None


def slowest(nodes: Sequence[NodeRow]) -> NodeRow | None:
    """The node that the others wait for; None where there is nothing to tell apart."""
    timed = [node for node in nodes if cycle_ms(node) is not None]
    times = {cycle_ms(node) for node in timed}
    return max(timed, key=lambda node: cycle_ms(node) or 0.0) if len(times) > 1 else None


def behind(node: NodeRow, nodes: Sequence[NodeRow]) -> float | None:
    """How much longer its cycle takes than the fastest node's, as a ratio minus 1."""
    known = [time for time in map(cycle_ms, nodes) if time]
    own = cycle_ms(node)
    return own / min(known) - 1 if own is not None and known else None


def visible(nodes: Sequence[NodeRow], room: int) -> tuple[NodeRow, ...]:
    """At most `room` nodes, problems first and then by rank; where not all fit, the slowest stays."""
    slow = slowest(nodes)
    troubles = [trouble(node, nodes) for node in nodes]
    order = range(len(nodes))
    kept = sorted(order, key=lambda index: (-troubles[index], nodes[index] is not slow, index))
    shown = sorted(kept[: max(0, room)], key=lambda index: (-troubles[index], index))
    return tuple(nodes[index] for index in shown)


def short_names(nodes: Sequence[NodeRow]) -> dict[str, str]:
    """What to call each node where room is short: no account, no domain, as long as that tells them apart."""
    names = [harmless(node.name) for node in nodes]
    for shorten in (_without_account, _first_label):
        shorter = [shorten(name) for name in names]
        if len(set(shorter)) == len(set(names)) and all(shorter):
            names = shorter
    return dict(zip((node.name for node in nodes), names, strict=True))


def common(nodes: Sequence[NodeRow]) -> tuple[Word, ...]:
    """What all nodes without problems share: the server's state, the file's."""
    well = [node for node in nodes if not trouble(node, nodes)]
    if len(well) < 2:
        return ()
    shared = ({state_word(node) for node in well}, {file_word(node, nodes) for node in well})
    return tuple(word for words in shared if len(words) == 1 for word in words if word != _UNKNOWN)


def _without_account(name: str) -> str:
    return name.rpartition("@")[2]


def _first_label(name: str) -> str:
    labels = name.split(".")
    return name if labels[-1].isdigit() or ":" in name else labels[0]


def _in_touch(node: NodeRow) -> bool:
    return node.connection in {"up", "none"}

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


@dataclass(frozen=True, slots=True)
class Told:
    """A node with what is said of it.

    `name` is as short as still tells it from the others. `state` is its connection where that is the news,
    else its server. `cycle_ms` is its slowest rank's median while it serves, `behind` how much longer that is
    than the fastest node's, as a ratio minus 1; `slowest` marks the node that the others wait for.
    """

    node: NodeRow
    name: str
    connection: Word
    server: Word
    state: Word
    file: Word
    probe: Word
    cycle_ms: float | None
    behind: float | None
    slowest: bool

    @property
    def trouble(self) -> int:
        """How much it calls for a look; 0 where all is well."""
        return max(word.trouble for word in (self.state, self.file, self.probe))

    @property
    def rank(self) -> str:
        """Its number in the server."""
        return figures.MISSING if self.node.rank is None else str(self.node.rank)

    @property
    def counted(self) -> str:
        """Items done of the step of its start-up, "61 of 163"; "" without a bar."""
        node = self.node
        if node.startup_done is None or not node.startup_total:
            return ""
        return f"{node.startup_done} of {node.startup_total}"

    @property
    def doing(self) -> str:
        """What it is doing or what went wrong, beside its state: a start-up's step, a server's last words."""
        node = self.node
        if not _in_touch(node) or node.server_phase != "starting" or not node.startup_phase:
            return harmless(node.detail)
        step = STARTUP_WORDS.get(node.startup_phase, harmless(node.startup_phase))
        return f"{step} {self.counted}".strip()


def tell(nodes: Sequence[NodeRow]) -> tuple[Told, ...]:
    """What is said of each node, in the order given."""
    times = [figures.finite(node.slowest_cycle_ms) if _in_touch(node) else None for node in nodes]
    known = [time for time in times if time]
    slowest_ms = max(known) if len(set(known)) > 1 else None
    slow = times.index(slowest_ms) if slowest_ms is not None else None
    some_patched = any(node.file_state is FileState.PATCHED for node in nodes)
    return tuple(
        _told(node, name, time, known, some_patched=some_patched, slowest=index == slow)
        for index, (node, name, time) in enumerate(zip(nodes, _short_names(nodes), times, strict=True))
    )


def _told(
    node: NodeRow, name: str, time: float | None, known: Sequence[float], *, some_patched: bool, slowest: bool
) -> Told:
    connection = _CONNECTIONS.get(node.connection, _UNKNOWN)
    # What was known of a server before the connection went says nothing.
    server = _SERVERS.get(node.server_phase, _UNKNOWN) if _in_touch(node) else _UNKNOWN
    return Told(
        node,
        name,
        connection,
        server,
        state=server if _in_touch(node) else connection,
        file=_file(node, some_patched=some_patched),
        probe=_PROBES.get(node.probe, Word(harmless(node.probe), MUTED)),
        cycle_ms=time,
        behind=time / min(known) - 1 if time else None,
        slowest=slowest,
    )


def _file(node: NodeRow, *, some_patched: bool) -> Word:
    """Its worker file. An original among patched ones is trouble: those ranks would not be timed."""
    original = Word("ORIGINAL", WARN, 1) if some_patched else Word("original", GOOD)
    words = {
        FileState.PATCHED: Word("patched", WARN),
        FileState.FOREIGN: Word("FOREIGN", BAD, 2),
        FileState.ORIGINAL: original,
    }
    return _UNKNOWN if node.file_state is None else words.get(node.file_state, _UNKNOWN)


def visible(told: Sequence[Told], room: int) -> tuple[Told, ...]:
    """At most `room` nodes, problems first, else as given; where not all fit, the slowest stays."""
    troubles = [each.trouble for each in told]
    kept = sorted(range(len(told)), key=lambda index: (-troubles[index], not told[index].slowest, index))
    shown = sorted(kept[: max(0, room)], key=lambda index: (-troubles[index], index))
    return tuple(told[index] for index in shown)


def common(told: Sequence[Told]) -> tuple[Word, ...]:
    """What all nodes without problems share: the server's state, the file's."""
    well = [each for each in told if not each.trouble]
    if len(well) < 2:
        return ()
    shared = ({each.state for each in well}, {each.file for each in well})
    return tuple(word for words in shared if len(words) == 1 for word in words if word != _UNKNOWN)


def _short_names(nodes: Sequence[NodeRow]) -> list[str]:
    """Names without account and domain, as long as that tells them apart."""
    names = [harmless(node.name) for node in nodes]
    for shorten in (_without_account, _first_label):
        shorter = [shorten(name) for name in names]
        if len(set(shorter)) == len(set(names)) and all(shorter):
            names = shorter
    return names


def _without_account(name: str) -> str:
    return name.rpartition("@")[2]


def _first_label(name: str) -> str:
    labels = name.split(".")
    return name if labels[-1].isdigit() or ":" in name else labels[0]


def _in_touch(node: NodeRow) -> bool:
    return node.connection in {"up", "none"}

"""Snapshots of a server on several hosts, fixed to the last digit; see `scripted_snapshots`."""

from __future__ import annotations

from dataclasses import replace

from specttui.events import Alert, FileState, Gpu, Phase, Severity
from specttui.state.snapshot import CommandView, NodeRow, RankRow, Snapshot
from support.scripted_snapshots import LOG_LINES, failed, gpus, serving, starting


def node(rank: int, name: str, **more: object) -> NodeRow:
    """A patched node that serves, a little slower than the one before it."""
    given: dict[str, object] = {
        "connection": "up",
        "server_phase": "serving",
        "file_state": FileState.PATCHED,
        "probe": "live",
        "gpus": gpus(),
        "slowest_cycle_ms": 19.52 + 0.12 * rank,
    }
    return NodeRow(name, rank, **{**given, **more})  # type: ignore[arg-type]


def spanning(snapshot: Snapshot, *nodes: NodeRow) -> Snapshot:
    """A snapshot of one host, told as that of these."""
    server = snapshot.server
    ranks = 8 * len(nodes)
    return replace(
        snapshot,
        target=" ".join(each.name for each in nodes),
        server=server and server.model_copy(update={"tensor_parallel": ranks, "node_count": len(nodes)}),
        nodes=nodes,
        gpus=tuple(_gpus(nodes)),
        ranks=tuple(
            RankRow(f"TP{rank}", 19.48 + 0.01 * rank, {Phase.VERIFY: 18.84 + 0.01 * rank})
            for rank in range(ranks if snapshot.ranks else 0)
        ),
        log_lines=tuple(f"{nodes[0].name}| {text}" for text in LOG_LINES),
    )


def two_nodes() -> Snapshot:
    """Two nodes serve; the second is the slower one."""
    return spanning(serving(), node(0, "gpu-a"), node(1, "gpu-b", slowest_cycle_ms=19.88))


def node_disconnected() -> Snapshot:
    """The connection to the second node is lost; the server goes on."""
    lost = node(1, "root@10.1.230.175", connection="retrying", detail="attempt 3 in 4 s: connection reset")
    snapshot = spanning(serving(), node(0, "root@10.1.230.174"), lost)
    return replace(
        snapshot, connection="retrying", connection_detail=f"{lost.name}: attempt 3 in 4 s: connection reset"
    )


def node_failed() -> Snapshot:
    """A restart failed because the third node ran out of memory; its file was not patched either."""
    title = "Out of GPU memory while the weights were loaded"
    down = {"server_phase": "exited", "slowest_cycle_ms": None, "probe": "waiting", "detail": ""}
    nodes = (
        node(0, "gpu-a", **{**down, "server_phase": "failed", "detail": f"gpu-c: {title}"}),
        node(1, "gpu-b", **down),
        node(2, "gpu-c", **{**down, "server_phase": "failed", "detail": title},
             file_state=FileState.ORIGINAL),
    )  # fmt: skip
    alerts = (Alert(severity=Severity.ERROR, message=f"gpu-c: {title}", remedy="Lower the memory fraction."),)
    snapshot = spanning(failed(), *nodes)
    file = snapshot.worker_file and snapshot.worker_file.model_copy(update={"state": FileState.ORIGINAL})
    return replace(
        snapshot, worker_file=file, server_detail=f"gpu-c: {title}", alerts=alerts,
        command=CommandView("restart", "steps 10", "failed", f"gpu-c: {title}"),
    )  # fmt: skip


def three_starting() -> Snapshot:
    """Three nodes on their way up, each at another step."""
    begun = {"server_phase": "starting", "slowest_cycle_ms": None, "probe": "waiting"}
    return spanning(
        starting(),
        node(0, "gpu-a.lab.example", **begun, startup_phase="graphs", startup_done=12, startup_total=52),
        node(1, "gpu-b.lab.example", **begun, startup_phase="weights", startup_done=61, startup_total=163),
        node(2, "gpu-c.lab.example", **begun, startup_phase="distributed"),
    )


def sixteen_nodes() -> Snapshot:
    """Sixteen nodes: one is the slowest, one has a probe that never fired."""
    nodes = [node(rank, f"gpu-{rank:02}", slowest_cycle_ms=19.5) for rank in range(16)]
    nodes[11] = replace(nodes[11], slowest_cycle_ms=21.07)
    nodes[13] = replace(nodes[13], probe="silent", slowest_cycle_ms=None)
    return spanning(serving(), *nodes)


def sixteen_starting() -> Snapshot:
    """Sixteen nodes load their weights."""
    return spanning(
        starting(),
        *(
            node(
                rank, f"gpu-{rank:02}", server_phase="starting", slowest_cycle_ms=None, probe="waiting",
                startup_phase="weights", startup_done=160 - 7 * rank, startup_total=163,
            )
            for rank in range(16)
        ),
    )  # fmt: skip


def _gpus(nodes: tuple[NodeRow, ...]) -> list[Gpu]:
    return [gpu for each in nodes for gpu in each.gpus]

"""The report's part about the hosts of a server that spans several."""

from __future__ import annotations

from specttui.report.blocks import table
from specttui.report.escape import code_cell, escape
from specttui.report.facts import NodeFact, ReportInput
from specttui.report.figures import UNKNOWN, number
from specttui.report.markdown_host import gpu_text

_HEADER = (
    "rank", "host", "worker file", "its sha256 at the end", "GPUs", "slowest cycle, ms", "connection losses",
)  # fmt: skip
_NUMBERS = (_HEADER[0], *_HEADER[5:])
_NOTE = (
    "The first host answers clients: settings, runs and starts are as it told them. The slowest cycle is the "
    "largest median among a host's ranks when the probe spoke last; the other hosts wait for it."
)


def nodes(report: ReportInput) -> str:
    """One row per host; "" for a server on a single one."""
    if not report.nodes:
        return ""
    known = {node.slowest_cycle_ms for node in report.nodes if node.slowest_cycle_ms is not None}
    slowest_ms = max(known) if len(known) > 1 else None
    rows = [_row(node, slowest_ms) for node in report.nodes]
    return f"{table(_HEADER, rows, numbers=_NUMBERS)}\n\n{_NOTE}"


def _row(node: NodeFact, slowest_ms: float | None) -> tuple[str, ...]:
    cycle = number(node.slowest_cycle_ms, 2)
    if node.slowest_rank:
        cycle += f" ({escape(node.slowest_rank)})"
    is_slowest = slowest_ms is not None and node.slowest_cycle_ms == slowest_ms
    return (
        UNKNOWN if node.rank is None else str(node.rank),
        escape(node.name),
        node.worker_state.value if node.worker_state is not None else UNKNOWN,
        code_cell(node.worker_sha256) or UNKNOWN,
        gpu_text(node.gpus) or UNKNOWN,
        f"**{cycle}, slowest**" if is_slowest else cycle,
        str(node.connection_losses),
    )

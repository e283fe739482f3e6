"""Which panel gets how much room: a pure function of the terminal's size and of what there is to show.

Three layouts: compact (80x24), without frames; framed, from 78x32 on; and wide, from 150x44 on, with a
second column. Where rows are short, the log gives way first, then the verdict's caveats, the older runs,
and last the parts of phases. The hosts of a server that spans several take a line, with frames a table.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Below this, only a message is shown.
MINIMUM_WIDTH, MINIMUM_HEIGHT = 60, 15
_FRAMED_FROM = (78, 32)
_WIDE_FROM = (150, 44)
_HISTOGRAM_FROM_WIDTH = 110
_LOG_BESIDE_RANKS = 10
#: Below this, a line for the hosts costs the panels of the top row one of theirs.
_NODE_LINE_FROM_HEIGHT = 17


@dataclass(frozen=True, slots=True)
class Wants:
    """What there is to show: rows that each panel could fill."""

    cycle_rows: int = 6
    cycle_whole_rows: int = 4
    run_count: int = 0
    verdict_rows: int = 1
    rank_count: int = 0
    gpu_count: int = 0
    node_count: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """Room per panel: rows inside the frames (headings included where there are none), widths outside.

    A panel with 0 rows is not shown. `metric_widths` names the panels of the top row with their widths.
    `node_line_rows` is for the hosts on one line, `node_rows` for the table of them.
    """

    tiny: bool = False
    framed: bool = False
    wide: bool = False
    header_rows: int = 2
    node_line_rows: int = 0
    node_rows: int = 0
    metric_widths: tuple[tuple[str, int], ...] = ()
    metric_rows: int = 0
    cycle_rows: int = 0
    cycle_width: int = 0
    ranks_width: int = 0
    verdict_rows: int = 0
    run_rows: int = 0
    log_rows: int = 0

    @property
    def chrome(self) -> tuple[int, int]:
        """Columns and rows that a panel's frame and padding take."""
        return (4, 2) if self.framed else (2, 0)


def plan(width: int, height: int, wants: Wants, maximised: str = "") -> Plan:
    """Share out a terminal of `width` x `height` cells.

    Args:
        width: Columns of the terminal.
        height: Rows of the terminal.
        wants: What there is to show.
        maximised: The panel that gets all the room, "" for none.
    """
    if width < MINIMUM_WIDTH or height < MINIMUM_HEIGHT:
        return Plan(tiny=True)
    framed = width >= _FRAMED_FROM[0] and height >= _FRAMED_FROM[1]
    wide = width >= _WIDE_FROM[0] and height >= _WIDE_FROM[1]
    header_rows = 3 if framed and not wide else 2
    room = height - header_rows - 1
    node_line = 1 if wants.node_count and (maximised or not framed) else 0
    if maximised:
        return _maximised(width, room - node_line, header_rows, maximised, node_line, framed=framed)
    metric_rows = max(_metric_rows(height, framed=framed), min(8, wants.gpu_count) if wide else 0)
    if node_line and height < _NODE_LINE_FROM_HEIGHT:
        metric_rows -= 1
    frame = 2 if framed else 0
    node_rows = _node_rows(height, wants.node_count) if framed else 0
    left = room - node_line - (node_rows + frame if node_rows else 0) - metric_rows - frame
    cycle, verdict, runs, log = _share(left, wants, frame)
    if wide:
        more = max(0, min(wants.rank_count + 1 - cycle, log - _LOG_BESIDE_RANKS))
        cycle, log = cycle + more, log - more
    ranks_width = width * 2 // 5 if wide else 0
    return Plan(
        framed=framed, wide=wide, header_rows=header_rows, node_line_rows=node_line, node_rows=node_rows,
        metric_widths=_metric_widths(width, framed=framed, wide=wide), metric_rows=metric_rows,
        cycle_rows=cycle, cycle_width=width - ranks_width, ranks_width=ranks_width,
        verdict_rows=verdict, run_rows=runs, log_rows=log,
    )  # fmt: skip


def _node_rows(height: int, count: int) -> int:
    """Rows of the table of hosts, its heading included: a quarter of what rows there are beyond 24."""
    return 1 + min(count, max(2, (height - 24) // 4)) if count else 0


def _metric_rows(height: int, *, framed: bool) -> int:
    if not framed:
        return 3
    return 6 if height >= 50 else 4 if height >= 36 else 2


def _metric_widths(width: int, *, framed: bool, wide: bool) -> tuple[tuple[str, int], ...]:
    names = ["throughput", "accept"]
    if framed and width >= _HISTOGRAM_FROM_WIDTH:
        names.append("histogram")
    if wide:
        names.append("gpus")
    share, rest = divmod(width, len(names))
    return tuple((name, share + (1 if index < rest else 0)) for index, name in enumerate(names))


def _share(rows: int, wants: Wants, frame: int) -> tuple[int, int, int, int]:
    """Rows inside the frames of cycle, verdict, runs and log; the frames of all four are paid here."""
    rows -= 4 * frame
    heading = 1
    cycle = wants.cycle_rows + heading
    verdict, run_heading = 1, 1
    least_runs, least_log = run_heading + min(2, max(1, wants.run_count)), 2 - (1 if frame else 0) + 1
    if cycle + verdict + least_runs + least_log > rows:
        cycle = wants.cycle_whole_rows + heading
    if cycle + verdict + least_runs + least_log > rows:
        least_runs, rows = 0, rows + frame
    spare = rows - cycle - verdict - least_runs - least_log
    runs = least_runs
    if least_runs:
        more = min(max(0, spare), max(0, wants.run_count + run_heading - least_runs))
        runs, spare = least_runs + more, spare - more
    wanted = max(0, wants.verdict_rows - 1)
    more = max(min(spare, wanted, 1), min(spare - 2, wanted, 4))
    verdict, spare = verdict + more, spare - more
    return cycle, verdict, runs, max(0, least_log + spare)


def _maximised(
    width: int, room: int, header_rows: int, panel: str, node_line_rows: int, *, framed: bool
) -> Plan:
    rows = room - (2 if framed else 0)
    return Plan(
        framed=framed,
        header_rows=header_rows,
        node_line_rows=node_line_rows,
        metric_widths=((panel, width),) if panel in {"throughput", "accept"} else (),
        metric_rows=rows if panel in {"throughput", "accept"} else 0,
        cycle_rows=rows if panel == "cycle" else 0,
        cycle_width=width,
        run_rows=rows if panel == "runs" else 0,
        log_rows=rows if panel == "log" else 0,
    )

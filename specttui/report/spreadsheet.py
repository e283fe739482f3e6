"""The runs table as CSV (RFC 4180), one row per run, full precision, units in the heads."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable

from specttui.events import Phase
from specttui.report.escape import clean
from specttui.report.facts import ReportInput
from specttui.report.figures import WHOLE_PHASES, parts_of, whole_shares
from specttui.state.snapshot import Interval, RunRow

_PHASES = tuple(phase for whole in WHOLE_PHASES for phase in (whole, *parts_of(whole)))
#: A spreadsheet takes text that begins so for a formula; an apostrophe keeps it text.
_FORMULA = ("=", "+", "-", "@")

Cell = str | int | float | bool | None

_COLUMNS: dict[str, Callable[[RunRow], Cell]] = {
    "run": lambda run: run.run_id,
    "configuration": lambda run: run.label,
    "baseline": lambda run: run.is_baseline,
    "algorithm": lambda run: run.settings.algorithm,
    "num_steps": lambda run: run.settings.num_steps,
    "eagle_topk": lambda run: run.settings.eagle_topk,
    "num_draft_tokens": lambda run: run.settings.num_draft_tokens,
    "server_tok_s": lambda run: _interval(run).value,
    "server_tok_s_low": lambda run: _interval(run).low,
    "server_tok_s_high": lambda run: _interval(run).high,
    "per_request_tok_s": lambda run: run.per_request_tok_s,
    "accept_length": lambda run: run.accept_len,
    "cycle_ms": lambda run: run.cycle_ms,
    "cycle_source": lambda run: run.source,
    "clock": lambda run: run.clock.value if run.clock else None,
    "batch": lambda run: run.batch,
    "change_vs_baseline": lambda run: run.change_vs_baseline,
    "significant": lambda run: run.significant,
    "cycles": lambda run: run.cycles,
    "log_samples": lambda run: run.samples,
    "started_s": lambda run: run.started_s,
    "ended_s": lambda run: run.ended_s,
    "warming_up": lambda run: run.warming_up,
    "changes": lambda run: "; ".join(run.changes),
}


def to_csv(report: ReportInput) -> str:
    """Write the runs table as CSV; line ends are CR LF, an empty field is "unknown".

    Args:
        report: The session's facts, from `collect`.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([*_COLUMNS, *(f"{phase.value}_ms" for phase in _PHASES), *map(_share_head, _PHASES)])
    for run in report.snapshot.runs:
        shares = run.phase_share | whole_shares(run)
        figures = [run.phase_ms.get(phase) for phase in _PHASES] + [shares.get(phase) for phase in _PHASES]
        writer.writerow([_text(cell) for cell in (*(column(run) for column in _COLUMNS.values()), *figures)])
    return text.getvalue()


def _share_head(phase: Phase) -> str:
    return f"{phase.value}_share"


def _text(cell: Cell) -> str:
    if cell is None or cell != cell:  # NaN is the one value that differs from itself
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, str):
        cell = clean(cell)
        return f"'{cell}" if cell.startswith(_FORMULA) else cell
    return repr(cell)


def _interval(run: RunRow) -> Interval:
    return run.throughput_tok_s or Interval(float("nan"), float("nan"), float("nan"))

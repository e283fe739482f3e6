"""The report's parts about runs: the table, loads, breakdowns, and what changed from one to the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from specttui.errors import LaunchError
from specttui.events import Launch, LoadFinished, Phase
from specttui.launch import describe
from specttui.report.blocks import bullets, section, table
from specttui.report.escape import escape, fence
from specttui.report.facts import LoadFact, ReportInput
from specttui.report.figures import (
    UNKNOWN,
    bar,
    change,
    elapsed,
    interval,
    milliseconds,
    number,
    parts_of,
    percents,
    phase_word,
    whole_shares,
)
from specttui.state.snapshot import RunRow

_BAR_WIDTH = 40
_RUN_HEADER = (
    "#", "configuration", "server tok/s", "accept length", "cycle ms", "verify ms", "vs baseline",
    "batch", "cycles", "log samples", "began", "remarks",
)  # fmt: skip
_LOAD_HEADER = (
    "load", "run", "at a time", "requests", "tokens each", "failed", "client tok/s (wall clock)",
    "TTFT ms, median", "TPOT ms, median", "accept length", "seconds", "problem",
)  # fmt: skip
_MARKS = {"add": "+", "remove": "-", "keep": " "}


def runs(report: ReportInput) -> str:
    """The comparison table."""
    if not report.snapshot.runs:
        return "No run was measured."
    rows = [_run_row(run) for run in report.snapshot.runs]
    return table(_RUN_HEADER, rows, numbers=(_RUN_HEADER[0], *_RUN_HEADER[2:10]))


def loads(report: ReportInput) -> str:
    """The loads sent by us, in figures of their own: never beside the server's in one table."""
    if not report.loads:
        return ""
    return section(
        "Loads, as the client saw them",
        "Client figures count prefill, queueing and the tail when fewer requests run; compare them with each "
        "other only, never with the server's steady decode rate above.",
        table(_LOAD_HEADER, [_load_row(load) for load in report.loads], numbers=_LOAD_HEADER[:-1]),
        level=3,
    )


def breakdowns(report: ReportInput) -> str:
    """One breakdown of the cycle per run that has one."""
    blocks = [_breakdown(run) for run in report.snapshot.runs if run.phase_share]
    without = [f"run {run.run_id}" for run in report.snapshot.runs if not run.phase_share]
    if without and report.snapshot.runs:
        blocks.append(f"No phase times for {', '.join(without)}: no probe spoke there.")
    return "\n\n".join(blocks)


def differences(report: ReportInput) -> str:
    """The edits and the whole difference of the launches, from each run to the next."""
    return "\n\n".join(_difference(before, after) for before, after in pairwise(report.snapshot.runs))


def _run_row(run: RunRow) -> Sequence[str]:
    return (
        str(run.run_id),
        escape(run.label),
        interval(run.throughput_tok_s),
        number(run.accept_len, 2),
        milliseconds(run.cycle_ms),
        milliseconds(run.phase_ms.get(Phase.VERIFY)),
        "baseline" if run.is_baseline else change(run.change_vs_baseline, run.significant),
        number(run.batch, 1),
        str(run.cycles),
        str(run.samples),
        elapsed(run.started_s),
        "; ".join(_remarks(run)),
    )


def _remarks(run: RunRow) -> Iterator[str]:
    if run.warming_up:
        yield "still warming up"
    if run.source and not (run.is_baseline and run.source == "log"):
        yield f"cycle from the {escape(run.source)}"
    if run.is_baseline and run.cycle_ms is not None:
        yield "cycle is TPOT"
    if run.clock is not None:
        yield f"clock {run.clock.value}"
    yield from (escape(note) for note in run.notes)


def _load_row(load: LoadFact) -> Sequence[str]:
    started = load.started
    asked = (
        str(started.load_id),
        UNKNOWN if load.run_id is None else str(load.run_id),
        str(started.concurrency),
        str(started.requests),
        str(started.max_new_tokens),
    )
    return (*asked, *_load_figures(load.finished))


def _load_figures(finished: LoadFinished | None) -> Sequence[str]:
    if finished is None:
        return (*[UNKNOWN] * 6, "not finished")
    return (
        str(finished.failed),
        number(finished.client_tok_s, 1),
        milliseconds(finished.median_ttft_ms),
        milliseconds(finished.median_tpot_ms),
        number(finished.mean_accept_length, 2),
        number(finished.elapsed_s, 1),
        escape(finished.error),
    )


def _breakdown(run: RunRow) -> str:
    clock = f", clock {run.clock.value}" if run.clock else ""
    lines = [f"{'phase':<16}{'':{_BAR_WIDTH}}  share of cycle   median ms"]
    shares = whole_shares(run)
    for (phase, share), percent in zip(shares.items(), percents(list(shares.values())), strict=True):
        lines.append(_phase_line(phase_word(phase), share, f"{percent} %", run.phase_ms.get(phase)))
        for part in (part for part in parts_of(phase) if part in run.phase_share):
            part_share = run.phase_share[part]
            text = f"({100 * part_share:.1f} %)"
            lines.append(_phase_line(f"  {phase_word(part)}", part_share, text, run.phase_ms.get(part)))
    lines.append(_phase_line("cycle", None, "100.0 %" if shares else UNKNOWN, run.cycle_ms))
    return section(
        f"Run {run.run_id}: {escape(run.label)} ({run.cycles} cycles{clock})", fence(lines), level=3
    )


def _phase_line(word: str, share: float | None, percent: str, median_ms: float | None) -> str:
    drawn = bar(share or 0.0, _BAR_WIDTH)
    return f"{word:<16}{drawn}  {percent:>14}   {milliseconds(median_ms):>9}"


def _difference(before: RunRow, after: RunRow) -> str:
    title = f"Run {before.run_id} to run {after.run_id}: {escape(before.label)} to {escape(after.label)}"
    lines = _launch_difference(before.launch, after.launch)
    block = fence(lines, "diff") if lines else ""
    changes = after.changes or ("No change of the launch is known.",)
    return section(title, bullets(escape(item) for item in changes), block, level=3)


def _launch_difference(before: Launch | None, after: Launch | None) -> list[str]:
    if before is None or after is None:
        return []
    try:
        return [f"{_MARKS[line.op]} {line.text}" for line in describe(before, after).lines]
    except LaunchError:  # a command we cannot read is still worth showing
        return [f"- {' '.join(before.argv)}", f"+ {' '.join(after.argv)}"]

"""The session as markdown that a colleague can read without having been there."""

from __future__ import annotations

from specttui.report.blocks import bullets, document, section
from specttui.report.escape import escape
from specttui.report.facts import ReportInput
from specttui.report.figures import UNKNOWN, elapsed, interval, number, utc
from specttui.report.markdown_host import environment, host_names, settings, start_ups
from specttui.report.markdown_log import alerts, commands, notes, timeline
from specttui.report.markdown_method import method
from specttui.report.markdown_nodes import nodes
from specttui.report.markdown_runs import breakdowns, differences, loads, runs
from specttui.report.markdown_worker import worker_files, worker_sentences
from specttui.report.ranking import rank
from specttui.state.snapshot import RunRow


def markdown(report: ReportInput) -> str:
    """Write a session as GitHub-flavoured markdown, the summary and verdict first.

    Args:
        report: The session's facts, from `collect`.

    Returns:
        The text; the same facts always give the same text. Remote text in it is escaped.
    """
    return document(
        f"# Speculative decoding on {host_names(report) or 'an unknown host'}",
        _heading(report),
        section("Summary", _verdict(report), bullets(_summary(report))),
        section("Environment", environment(report)),
        section("Nodes", nodes(report)),
        section("Runs", runs(report), loads(report)),
        section("Where the cycle goes", breakdowns(report)),
        section("What changed between runs", differences(report)),
        section("Server settings", settings(report)),
        section("Worker file", worker_files(report)),
        section("Commands", commands(report)),
        section("Server starts", start_ups(report)),
        section("Notes", notes(report)),
        section("Alerts", alerts(report)),
        section("Timeline", timeline(report)),
        section("Method and caveats", method(report)),
    )


def _heading(report: ReportInput) -> str:
    parts = [f"Session {escape(report.session_id or UNKNOWN)}"]
    if report.started_at:
        parts.append(f"{utc(report.started_at)}, lasting {elapsed(report.duration_s)}")
    if report.specttui_version:
        parts.append(f"recorded by specttui {escape(report.specttui_version)}")
    return "; ".join(parts) + "."


def _verdict(report: ReportInput) -> str:
    verdict = report.snapshot.verdict
    return f"**Verdict: {escape(verdict.outcome.replace('_', ' '))}.** {escape(verdict.text)}"


def _summary(report: ReportInput) -> list[str]:
    verdict = report.snapshot.verdict
    items = [*_break_even(report), *_fastest(report), *(escape(caveat) for caveat in verdict.caveats)]
    items += worker_sentences(report.workers)
    if report.mode == "demo":
        items.append("**This is the demo host: its server and all figures are simulated.**")
    if not report.complete:
        items.append(
            "The recording has no end: the session went on, or was cut off, after the last entry here."
        )
    return items


def _break_even(report: ReportInput) -> list[str]:
    verdict = report.snapshot.verdict
    if verdict.break_even_accept_len is None:
        return []
    text = f"Break-even accept length: {verdict.break_even_accept_len:.2f} tokens per cycle"
    if verdict.headroom is not None:
        text += f"; headroom {verdict.headroom:+.2f}"
    if verdict.speed_up is not None:
        text += f"; speed-up {number(verdict.speed_up, 2)}"
    return [text + "."]


def _fastest(report: ReportInput) -> list[str]:
    ranking = rank(report.snapshot.runs)
    if not ranking.comparable:
        return ["The runs served at different batch sizes, so their throughputs are not ranked."]
    if ranking.measured < 2:
        return []
    names = [_named(run) for run in ranking.leaders]
    rate = f"{interval(ranking.leaders[0].throughput_tok_s)} tok/s (server, steady decode)"
    if len(names) == 1:
        return [f"Fastest of {ranking.measured} runs: {names[0]}, {rate}."]
    tied = f"Tied at the top of {ranking.measured} runs: {', '.join(names)}"
    return [f"{tied}; the first has {rate}, and the intervals of the others overlap it."]


def _named(run: RunRow) -> str:
    return f"run {run.run_id} ({escape(run.label)})"

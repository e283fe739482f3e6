"""A log's summary as plain text for a terminal of 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from specttui.log.summary_model import (
    FailureFigures,
    LogSummary,
    ProbeFigures,
    RunFigures,
    ServerFigures,
)

_WIDTH = 80
_EXCLUDED = {
    "after_idle": "first after an idle gap",
    "batch_changed": "number of requests changed",
    "kv_pressure": "KV pool full",
    "empty": "without figures",
    "other_rank": "another rank's copy",
}


def render(summary: LogSummary) -> str:
    """Write the summary as text, without colour.

    Args:
        summary: What `summarise` returned.

    Returns:
        Lines of at most 80 columns where the log's own words allow, ending with a newline.
    """
    if not summary.servers:
        return "The log holds no line of an SGLang server that specttui knows.\n"
    lines: list[str] = []
    for number, server in enumerate(summary.servers, start=1):
        lines += [*([""] if lines else []), *_server(number, server)]
    return "\n".join(lines) + "\n"


def _server(number: int, server: ServerFigures) -> Iterator[str]:
    begun = f", started {server.started}" if server.started else ""
    ready = f", ready after {server.startup_s:.0f} s" if server.startup_s is not None else ""
    yield f"SERVER {number}{begun}: {server.outcome}{ready}"
    yield from _listed("settings", _settings(server.settings))
    for words in server.adjusted:
        yield from _wrapped("server says: ", words)
    yield from _listed("start-up", [f"{p.phase} {p.duration_s:.0f} s" for p in server.startup])
    yield from _traffic(server)
    for run_number, run in enumerate(server.runs, start=1):
        yield from _run(run_number, run)
    for failure in server.failures:
        yield from _failure(failure)
    for note in server.notes:
        yield from _wrapped("note: ", note)


def _settings(settings: dict[str, str]) -> list[str]:
    """What says something: a switch that is off goes without saying, except that overlap is on."""
    return [
        f"{name}={value}"
        for name, value in settings.items()
        if value != "False" or name == "disable_overlap_schedule"
    ]


def _traffic(server: ServerFigures) -> Iterator[str]:
    counts = []
    if server.http_ok or server.http_client_errors or server.http_server_errors:
        counts.append(
            f"requests {server.http_ok} ok, {server.http_client_errors} refused (4xx), "
            f"{server.http_server_errors} failed (5xx)"
        )
    counts += [f"{server.retracted_requests} retracted: KV pool full"] if server.retracted_requests else []
    if counts:
        yield from _wrapped("", "; ".join(counts))


def _run(number: int, run: RunFigures) -> Iterator[str]:
    yield f"  RUN {number}  {run.label}"
    if run.loads:
        yield "    running  lines  tok/s median   mean  accept length  cycle ms (from the log)"
    for load in run.loads:
        accept = f"{load.accept_len:.2f}" if load.accept_len is not None else "-"
        yield (
            f"    {load.running:>7}  {load.lines:>5}  {load.throughput_tok_s:>12.1f}  "
            f"{load.mean_throughput_tok_s:>5.0f}  {accept:>13}  {load.cycle_ms:>8.2f}"
        )
    yield from _counting(run)
    for probe in run.probe:
        yield from _probe(probe)


def _counting(run: RunFigures) -> Iterator[str]:
    parts = [f"{run.decode_lines} decode lines"]
    if run.interval_cycles:
        parts.append(f"one per {run.interval_cycles} cycles")
    if run.accept_rate is not None:
        parts.append(f"{run.accept_rate:.0%} of drafts accepted")
    parts += [f"{count} left out ({_EXCLUDED.get(reason, reason)})" for reason, count in run.excluded.items()]
    if run.missing_lines:
        parts.append(f"{run.missing_lines} missing")
    yield from textwrap.wrap("; ".join(parts), _WIDTH, initial_indent="    ", subsequent_indent="    ")


def _probe(probe: ProbeFigures) -> Iterator[str]:
    cycle = f"{probe.cycle_ms:.2f} ms" if probe.cycle_ms is not None else "unknown"
    rank = f" {probe.rank}" if probe.rank else ""
    yield f"    probe{rank}, clock {probe.clock}: {probe.cycles} cycles, median {cycle}"
    for phase in probe.phases:
        share = f"{phase.share:>6.1%}" if phase.share is not None else "     -"
        yield f"      {phase.phase:<15} {share}  median {phase.median_ms:.2f} ms, p95 {phase.p95_ms:.2f} ms"


def _failure(failure: FailureFigures) -> Iterator[str]:
    rank = f" on {failure.rank}" if failure.rank else ""
    kind = "FAILURE" if failure.fatal else "PROBLEM"
    yield from _wrapped(f"{kind}{rank} ({failure.category}): ", failure.title)
    if failure.in_probe:
        where = "in" if failure.details.get("probe_frame") == "innermost" else "through"
        yield f"    the traceback goes {where} specttui's probe"
    for line in failure.lines:
        yield f"    | {line}"
    yield from _wrapped("  what to do: ", failure.remedy)


def _listed(name: str, parts: list[str]) -> Iterator[str]:
    if parts:
        yield from _wrapped(f"{name}: ", ", ".join(parts))


def _wrapped(head: str, text: str) -> list[str]:
    return textwrap.wrap(
        head + text, _WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False
    )

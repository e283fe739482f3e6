"""Folds what concerns our probe's lines."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

from specttui import events as ev
from specttui.state.cycles import CycleColumns
from specttui.state.facts import WINDOW_CYCLES, Facts, Handler
from specttui.state.segments import by_steps
from specttui.state.snapshot import ProbeView


def _probe_installed(facts: Facts, event: ev.ProbeInstalled) -> None:
    facts.probe = ProbeView(
        status="off" if event.clock is ev.Clock.OFF else "waiting",
        clock=event.clock,
        way=event.way,
        worker_class=event.worker_class,
        hooked=event.hooked,
        missing=event.missing,
    )


def _probe_cycles(facts: Facts, event: ev.ProbeCycles) -> None:
    run = facts.run
    if run is not None:
        run.add_cycles(event, facts.offset_s)
    shown = event if run is None or not run.switch_count else by_steps(event).get(run.settings.num_steps)
    if shown is not None:
        facts.window.setdefault(event.rank, CycleColumns(WINDOW_CYCLES)).add(shown)
    if facts.window and event.rank == min(facts.window):
        _remember_cycles(facts, event)
    facts.probe = replace(
        facts.probe,
        status="live",
        clock=event.clock,
        dropped_cycles=event.dropped_cycles,
        dropped_lines=event.dropped_lines,
        draft_step_ms=tuple(event.draft_step_ms) or facts.probe.draft_step_ms,
        self_us=event.self_us if event.self_us is not None else facts.probe.self_us,
        timed_share=event.timed_share,
    )


def _remember_cycles(facts: Facts, event: ev.ProbeCycles) -> None:
    _remember(facts, "cycle", event.cycle_ms)
    for phase, values in event.phase_ms.items():
        _remember(facts, phase.value, values)


def _remember(facts: Facts, metric: str, values: list[float | None]) -> None:
    known = sorted(value for value in values if value is not None)
    if known and metric in facts.history:
        facts.history[metric].add(facts.offset_s, known[len(known) // 2])


def _probe_prefill(facts: Facts, event: ev.ProbePrefill) -> None:
    for phase, values in event.phase_ms.items():
        column = facts.prefill_ms.setdefault(phase, deque(maxlen=WINDOW_CYCLES))
        column.extend(value for value in values if value is not None)


def _probe_summary(facts: Facts, event: ev.ProbeSummary) -> None:
    facts.summaries[event.rank] = event
    if facts.probe.status == "waiting":  # on a node whose ranks write nothing else
        facts.probe = replace(facts.probe, status="live", clock=event.clock)


def _probe_clock(facts: Facts, event: ev.ProbeClockChanged) -> None:
    status = "off" if event.clock is ev.Clock.OFF else "live"
    facts.probe = replace(facts.probe, status=status, clock=event.clock)


def _probe_error(facts: Facts, event: ev.ProbeError) -> None:
    facts.probe = replace(facts.probe, status="failed", hooked={}, message=event.message)
    facts.add_alert(
        ev.Alert(
            severity=ev.Severity.ERROR,
            message=f"The probe took itself out: {event.message}",
            remedy="The server goes on without it. Restart to try again, or restore the file (x).",
        ),
    )


HANDLERS: dict[type[ev.Event], Handler] = {
    ev.ProbeInstalled: _probe_installed,
    ev.ProbeCycles: _probe_cycles,
    ev.ProbePrefill: _probe_prefill,
    ev.ProbeSummary: _probe_summary,
    ev.ProbeClockChanged: _probe_clock,
    ev.ProbeError: _probe_error,
}

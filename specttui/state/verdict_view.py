"""The verdict for the screen: gathers a run's and its baseline's figures for `analysis.verdict`."""

from __future__ import annotations

from specttui.analysis.stats import Estimate
from specttui.analysis.verdict import VerdictInput, verdict
from specttui.events import Launch
from specttui.launch import parallelism
from specttui.state.run_rows import baseline_for
from specttui.state.snapshot import CycleView, Interval, RunRow, VerdictView

_SIMULATED = ("SGLANG_SIMULATE_ACC_LEN", "SIMULATE_ACC_LEN")


def verdict_view(rows: tuple[RunRow, ...], cycle: CycleView | None) -> VerdictView:
    """The verdict on the newest run, against the newest comparable baseline."""
    if not rows:
        return VerdictView("unknown", "No server serves yet: nothing to judge.")
    row = next((row for row in reversed(rows) if row.current), rows[-1])
    baseline = baseline_for(row, list(rows))
    if baseline is not None and baseline.run_id == row.run_id:
        baseline = None
    found = verdict(
        VerdictInput(
            speculative=not row.is_baseline,
            accept_len=row.accept_len,
            cycle_ms=row.cycle_ms,
            num_steps=row.settings.num_steps,
            draft_tokens=row.settings.num_draft_tokens,
            throughput_tok_s=_estimate(row.throughput_tok_s),
            batch=row.batch,
            tensor_parallel=_tensor(row.launch),
            baseline_tpot_ms=baseline.cycle_ms if baseline else None,
            baseline_throughput_tok_s=_estimate(baseline.throughput_tok_s) if baseline else None,
            baseline_batch=baseline.batch if baseline else None,
            baseline_tensor_parallel=_tensor(baseline.launch) if baseline else None,
            shares=row.phase_share,
            host_bound=cycle.host_bound if cycle else False,
            clock=row.clock,
            simulated=row.launch is not None and any(name in row.launch.env for name in _SIMULATED),
        )
    )
    return VerdictView(
        outcome=found.outcome,
        text=found.text,
        break_even_accept_len=found.break_even_accept_len,
        speed_up=found.speed_up,
        headroom=found.headroom,
        limiting_phase=found.limiting_phase,
        caveats=found.caveats,
    )


def _estimate(interval: Interval | None) -> Estimate | None:
    return Estimate(interval.value, interval.low, interval.high) if interval else None


def _tensor(launch: Launch | None) -> int:
    return parallelism(launch).tensor if launch is not None else 1

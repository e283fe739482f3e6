"""Statistics, cycle breakdown, break-even, prediction, verdict: pure functions of numbers.

Formulas and their sources: docs/analysis.md.
"""

from __future__ import annotations

from specttui.analysis.acceptance import (
    RateMeaning,
    accept_len_by_histogram,
    accept_len_from_rate,
    accept_len_max,
    accept_len_of,
    accept_rate,
    position_rate,
)
from specttui.analysis.break_even import BreakEven, break_even, tpot_ms
from specttui.analysis.breakdown import Breakdown, Row, breakdown
from specttui.analysis.compare import (
    Change,
    Metric,
    RunFigures,
    change,
    contradictions,
    obstacles,
    repeat_noise,
    same_batch,
    tied_with_best,
)
from specttui.analysis.recommend import Recommendation, best_steps, recommend
from specttui.analysis.regimes import (
    LoadPoint,
    RegimeChange,
    crossover,
    interpolate_cycle_ms,
    regime_changes,
)
from specttui.analysis.stats import (
    Estimate,
    Interval,
    bootstrap_interval,
    differ,
    known,
    mean,
    median,
    percentile,
)
from specttui.analysis.steady import busy_lines, steady, steady_start
from specttui.analysis.step_model import Line, StepModel, StepRun, fit, fit_line, misfit
from specttui.analysis.throughput import cycle_ms, log_interval, spread, throughput_tok_s, unaccounted
from specttui.analysis.verdict import Verdict, VerdictInput, verdict

__all__ = [
    "BreakEven", "Breakdown", "Change", "Estimate", "Interval", "Line", "LoadPoint", "Metric", "RateMeaning",
    "Recommendation", "RegimeChange", "Row", "RunFigures", "StepModel", "StepRun", "Verdict", "VerdictInput",
    "accept_len_by_histogram", "accept_len_from_rate", "accept_len_max", "accept_len_of", "accept_rate",
    "best_steps", "bootstrap_interval", "break_even", "breakdown", "busy_lines", "change", "contradictions",
    "crossover", "cycle_ms", "differ", "fit", "fit_line", "interpolate_cycle_ms", "known", "log_interval",
    "mean", "median", "misfit", "obstacles", "percentile", "position_rate", "recommend", "regime_changes",
    "repeat_noise", "same_batch", "spread", "steady", "steady_start", "throughput_tok_s", "tied_with_best",
    "tpot_ms", "unaccounted", "verdict",
]  # fmt: skip

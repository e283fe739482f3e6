"""What another step count would give: costs fitted to measured runs, acceptance by position, a prediction.

With top-k 1 and k steps, n = k + 1 tokens are verified: draft(k) = d0 + d1 k, verify(n) = v0 + v1 n, so the
cycle is a line in k too. Acceptance falls off by one rate a per position, A = (1 - a^(k+1)) / (1 - a), found
for each measured run and interpolated between them; a histogram of accepted drafts, where there is one,
gives smaller step counts exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from specttui.analysis.acceptance import accept_len_by_histogram, accept_len_of, position_rate
from specttui.analysis.stats import Estimate, mean

#: Error of the model itself per step between the nearest measured run and the one asked about, relative.
#: From public measurements (docs/analysis.md): within the measured range below 0.6 %, beyond it up to 2.7 %
#: per step (5.4 % two steps beyond, 9 % four steps beyond).
INSIDE_ERROR = 0.005
OUTSIDE_ERROR = 0.027
#: Assumed relative error of a measured cycle time whose interval is not given.
DEFAULT_ERROR = 0.01


@dataclass(frozen=True, slots=True)
class StepRun:
    """A measured run with top-k 1. Times are medians in ms; `*_error` are relative half widths.

    Draft and verify are optional; with them the model names what each step costs where.
    """

    num_steps: int
    cycle_ms: float
    accept_len: float
    cycle_error: float = DEFAULT_ERROR
    accept_error: float = 0.0
    draft_ms: float | None = None
    verify_ms: float | None = None
    accept_histogram: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line: `base` at 0, `slope` per unit."""

    base: float
    slope: float

    def at(self, x: float) -> float:
        """The line's value at x."""
        return self.base + self.slope * x


@dataclass(frozen=True, slots=True)
class StepModel:
    """Fitted costs. `cycle` and `draft` are lines in the steps, `verify` in the verified tokens."""

    runs: tuple[StepRun, ...]
    cycle: Line
    draft: Line | None = None
    verify: Line | None = None

    def cycle_ms(self, num_steps: int) -> float:
        """The cycle time at a step count."""
        return self.cycle.at(num_steps)

    def accept_len(self, num_steps: int) -> float:
        """The accept length at a step count: measured, by histogram, or by the rate per position."""
        measured = [run.accept_len for run in self.runs if run.num_steps == num_steps]
        if measured:
            return mean(measured)
        longer = min(
            (r for r in self.runs if r.num_steps > num_steps and r.accept_histogram), key=_steps, default=None
        )
        by_histogram = accept_len_by_histogram(longer.accept_histogram, num_steps) if longer else None
        return by_histogram or accept_len_of(self._rate(num_steps), num_steps)

    def _rate(self, num_steps: int) -> float:
        """The rate per position, interpolated between measured runs and constant beyond them."""
        points = [(run.num_steps, position_rate(run.accept_len, run.num_steps)) for run in self.runs]
        below = [point for point in points if point[0] <= num_steps] or points[:1]
        above = [point for point in points if point[0] >= num_steps] or points[-1:]
        (k0, a0), (k1, a1) = below[-1], above[0]
        return a0 if k0 == k1 else a0 + (a1 - a0) * (num_steps - k0) / (k1 - k0)

    def predict(self, num_steps: int, *, running: float = 1.0, accept_len: float | None = None) -> Estimate:
        """Server throughput in tok/s at a step count, with an interval.

        Args:
            num_steps: The step count asked about, at least 1.
            running: Requests decoding at once, as in the measured runs.
            accept_len: The accept length there, where it is known better than by the model.
        """
        length = self.accept_len(num_steps) if accept_len is None else accept_len
        value = 1000 * running * length / self.cycle_ms(num_steps)
        error = self._measurement_error(num_steps) + self._model_error(num_steps)
        return Estimate(value, value * (1 - error), value * (1 + error))

    def _measurement_error(self, num_steps: int) -> float:
        """The relative error that the runs' own errors leave at a step count, through the line's weights."""
        weights = _weights([run.num_steps for run in self.runs], num_steps)
        cycle = self.cycle_ms(num_steps)
        pairs = zip(weights, self.runs, strict=True)
        variance = math.fsum((w * run.cycle_error * run.cycle_ms / cycle) ** 2 for w, run in pairs)
        nearest = min(self.runs, key=lambda run: abs(run.num_steps - num_steps))
        return math.sqrt(variance + nearest.accept_error**2)

    def _model_error(self, num_steps: int) -> float:
        steps = [run.num_steps for run in self.runs]
        distance = min(abs(num_steps - k) for k in steps)
        inside = min(steps) <= num_steps <= max(steps)
        return distance * (INSIDE_ERROR if inside else OUTSIDE_ERROR)


def fit(runs: Sequence[StepRun]) -> StepModel | None:
    """Fit the model to runs at one load, by least squares.

    Returns:
        The model, or None with fewer than two different step counts, or when the fitted cycle is not
        positive over them.
    """
    ordered = tuple(sorted(runs, key=_steps))
    steps = [run.num_steps for run in ordered]
    if len(set(steps)) < 2:
        return None
    cycle = fit_line(steps, [run.cycle_ms for run in ordered])
    if min(cycle.at(0), cycle.at(steps[-1])) <= 0:
        return None
    draft, verify = _known_line(ordered, "draft_ms", 0), _known_line(ordered, "verify_ms", 1)
    return StepModel(ordered, cycle, draft, verify)


def fit_line(xs: Sequence[float], ys: Sequence[float]) -> Line:
    """The least-squares line through points of at least two different x.

    Raises:
        ValueError: All x are equal.
    """
    middle_x, middle_y = mean(xs), mean(ys)
    spread = math.fsum((x - middle_x) ** 2 for x in xs)
    if not spread:
        raise ValueError("a line needs two different x")
    slope = math.fsum((x - middle_x) * (y - middle_y) for x, y in zip(xs, ys, strict=True)) / spread
    return Line(middle_y - slope * middle_x, slope)


def misfit(model: StepModel, run: StepRun) -> float:
    """By how much a run's measured cycle misses the model's, as a ratio minus 1.

    Clearly positive beyond the fitted range means that verify grows faster than a line in the tokens.
    """
    return run.cycle_ms / model.cycle_ms(run.num_steps) - 1


def _steps(run: StepRun) -> int:
    return run.num_steps


def _weights(xs: Sequence[float], x: float) -> list[float]:
    """What each point of a least-squares line contributes to its value at x."""
    middle = mean(xs)
    spread = math.fsum((each - middle) ** 2 for each in xs)
    return [1 / len(xs) + (x - middle) * (each - middle) / spread for each in xs]


def _known_line(runs: Sequence[StepRun], name: str, extra: int) -> Line | None:
    points = [(run.num_steps + extra, value) for run in runs if (value := getattr(run, name)) is not None]
    if len({x for x, _ in points}) < 2:
        return None
    return fit_line([x for x, _ in points], [y for _, y in points])

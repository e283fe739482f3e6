"""Medians, percentiles and confidence intervals, exact and with nothing but the standard library."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import NormalDist
from typing import NamedTuple, Protocol

Statistic = Callable[[Sequence[float]], float]


class Interval(Protocol):
    """Any value with a confidence interval: `Estimate`, or the snapshot's own type."""

    @property
    def value(self) -> float:
        """The estimate itself."""
        ...

    @property
    def low(self) -> float:
        """The interval's lower end."""
        ...

    @property
    def high(self) -> float:
        """The interval's upper end."""
        ...


class Estimate(NamedTuple):
    """A value with its confidence interval."""

    value: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half of the interval's width."""
        return (self.high - self.low) / 2


def known(values: Sequence[float | None]) -> list[float]:
    """The values that are known and finite, in order."""
    return [value for value in values if value is not None and math.isfinite(value)]


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean.

    Raises:
        ValueError: There are no values.
    """
    if not values:
        raise ValueError("mean of no values")
    return math.fsum(values) / len(values)


def median(values: Sequence[float]) -> float:
    """The median; the mean of the two middle values for an even count.

    Raises:
        ValueError: There are no values.
    """
    return percentile(values, 50)


def percentile(values: Sequence[float], percent: float) -> float:
    """The exact percentile with linear interpolation between closest ranks (numpy's default method).

    Args:
        values: At least one value, in any order.
        percent: 0 to 100.

    Raises:
        ValueError: There are no values, or `percent` is out of range.
    """
    if not values or not 0 <= percent <= 100:
        raise ValueError("a percentile needs values and 0 to 100 percent")
    ordered = sorted(values)
    rank = (len(ordered) - 1) * percent / 100
    below = math.floor(rank)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (rank - below)


def bootstrap_interval(
    values: Sequence[float],
    *,
    statistic: Statistic = median,
    blocks: int = 20,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """A statistic with a bootstrap confidence interval over blocks of consecutive values.

    Neighbouring cycles resemble each other, so single values must not be resampled. The values are cut into
    consecutive blocks, each block is reduced to its statistic, and the mean of the blocks' statistics is
    resampled (for the mean this is the block bootstrap of Kuensch 1989; for the median it costs a hundredth
    of resampling the values). The interval is widened by sqrt(n / (n - 1)) and by Student's t over the normal
    quantile, because few blocks understate the spread.

    Args:
        values: At least one value, in the order of time.
        statistic: What is estimated.
        blocks: How many blocks to cut; fewer where there are fewer values.
        resamples: How often to resample.
        confidence: The interval's coverage, 0 to 1.
        seed: Equal seeds give equal intervals.

    Returns:
        The statistic of all values, and the interval around it. One value says nothing about its spread: its
        interval reaches from 0 to twice the value.

    Raises:
        ValueError: There are no values.
    """
    value = statistic(values)
    parts = [statistic(part) for part in _blocks(values, blocks)]
    if len(parts) < 2:
        return Estimate(value, value - abs(value), value + abs(value))
    pick = random.Random(seed).choices  # noqa: S311 - resampling, not cryptography
    count = len(parts)
    means = [math.fsum(pick(parts, k=count)) / count for _ in range(resamples)]
    tail = (1 - confidence) / 2 * 100
    center, widen = mean(parts), _small_sample_factor(count, confidence)
    low = value + (percentile(means, tail) - center) * widen
    high = value + (percentile(means, 100 - tail) - center) * widen
    return Estimate(value, min(low, value), max(high, value))


def differ(a: Interval, b: Interval) -> bool:
    """True when two estimates differ: their intervals have no point in common."""
    return a.high < b.low or b.high < a.low


def _blocks(values: Sequence[float], count: int) -> list[Sequence[float]]:
    """The values in `count` consecutive blocks of sizes that differ by one at most."""
    count = max(1, min(count, len(values)))
    bounds = [len(values) * index // count for index in range(count + 1)]
    return [values[start:end] for start, end in pairwise(bounds)]


def _small_sample_factor(count: int, confidence: float) -> float:
    """By how much few blocks understate an interval: sqrt(n / (n - 1)) times t over z.

    Student's quantile is expanded about the normal one (Abramowitz and Stegun 26.7.5).
    """
    z, freedom = NormalDist().inv_cdf((1 + confidence) / 2), count - 1
    student = (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )
    return math.sqrt(count / freedom) * student / z

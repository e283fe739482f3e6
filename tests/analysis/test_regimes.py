import pytest

from specttui.analysis.regimes import LoadPoint, crossover, interpolate_cycle_ms, regime_changes

CONCURRENCY = (1, 2, 4, 8, 16, 32)
SPEC = [LoadPoint(c, ms) for c, ms in zip(CONCURRENCY, (28.6, 36.2, 44.4, 101.0, 131.2, 205.2), strict=True)]
BASE_TOK_S = (59.0, 92.4, 164.2, 251.4, 428.7, 317.8)
BASE = [LoadPoint(c, 1000 * c / tps) for c, tps in zip(CONCURRENCY, BASE_TOK_S, strict=True)]


def test_b11_the_cliff_of_the_speculative_run():
    (found,) = regime_changes(SPEC)
    assert (found.below, found.above, found.cycle_ratio) == (4, 8, pytest.approx(101.0 / 44.4))


def test_b11_the_cliff_of_the_baseline():
    (found,) = regime_changes(BASE)
    assert (found.below, found.above) == (16, 32)


def test_b11_nothing_is_interpolated_across_a_cliff():
    assert interpolate_cycle_ms(SPEC, 6) is None
    assert interpolate_cycle_ms(SPEC, 3) == pytest.approx(40.3)
    assert interpolate_cycle_ms(SPEC, 8) == pytest.approx(101.0)
    assert interpolate_cycle_ms(SPEC, 64) is None
    assert interpolate_cycle_ms([], 1) is None


def test_b12_where_context_takes_the_gain_away():
    contexts = (0, 16, 32, 64, 128)
    spec, base = (130, 79, 58, 37, 29), (74, 65, 58, 48, 35)
    ratios = [s / b for s, b in zip(spec, base, strict=True)]
    assert ratios == pytest.approx([1.76, 1.22, 1.00, 0.77, 0.83], abs=0.006)
    assert crossover(contexts, ratios) == 32
    assert crossover(contexts[:2], ratios[:2]) is None

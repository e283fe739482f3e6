import pytest

from specttui.analysis.acceptance import accept_len_of
from specttui.analysis.step_model import Line, StepRun, fit, fit_line, misfit
from specttui.analysis.throughput import cycle_ms

K = (2, 3, 4, 5, 6, 7)
E1 = ((2.10, 4.37), (2.29, 4.29), (2.39, 4.48), (2.43, 4.71), (2.45, 4.94), (2.47, 5.20))
E3 = ((2.36, 4.32), (2.79, 4.09), (3.08, 4.05), (3.32, 4.13), (3.46, 4.20), (3.54, 4.29))


def run(k, length, tpot):
    return StepRun(k, length * tpot, length)


@pytest.mark.parametrize(
    ("table", "cycles", "base", "slope"),
    [
        (E1, [9.18, 9.82, 10.71, 11.45, 12.10, 12.84], 7.69, 0.740),
        (E3, [10.20, 11.41, 12.47, 13.71, 14.53, 15.19], 8.35, 1.016),
    ],
)
def test_b01_a_line_through_all_cycles(table, cycles, base, slope):
    runs = [run(k, *row) for k, row in zip(K, table, strict=True)]
    assert [each.cycle_ms for each in runs] == pytest.approx(cycles, abs=0.006)
    model = fit(runs)
    assert model.cycle.base == pytest.approx(base, abs=0.006)
    assert model.cycle.slope == pytest.approx(slope, abs=0.0006)


def test_b01_two_runs_predict_the_others():
    model = fit([run(2, *E3[0]), run(5, *E3[3])])
    predicted = [model.predict(k, accept_len=length).value for k, (length, _) in zip(K, E3, strict=True)]
    assert predicted == pytest.approx([231.5, 245.4, 245.6, 242.1, 232.5, 220.5], abs=0.06)
    measured = [1000 / tpot for _, tpot in E3]
    assert measured == pytest.approx([231.5, 244.5, 246.9, 242.1, 238.1, 233.1], abs=0.06)
    errors = [p / m - 1 for p, m in zip(predicted, measured, strict=True)]
    assert max(map(abs, errors)) == pytest.approx(0.054, abs=0.0005)


def test_b01_eagle_1_within_1_2_percent():
    model = fit([run(2, *E1[0]), run(5, *E1[3])])
    errors = [model.predict(k, accept_len=a).value * t / 1000 - 1 for k, (a, t) in zip(K, E1, strict=True)]
    assert 0.010 < max(map(abs, errors)) < 0.012


@pytest.mark.parametrize("table", [E1, E3])
def test_b01_the_intervals_hold_what_was_measured(table):
    model = fit([run(2, *table[0]), run(5, *table[3])])
    for k, (length, tpot) in zip(K, table, strict=True):
        found = model.predict(k, accept_len=length)
        assert found.low <= 1000 / tpot <= found.high


def test_b02_cost_per_step():
    model = fit([StepRun(2, cycle_ms(175.49, 1.89), 1.89), StepRun(4, cycle_ms(165.65, 2.08), 2.08)])
    assert model.cycle.slope == pytest.approx(0.89, abs=0.006)


def test_b05_verify_grows_faster_than_a_line():
    runs = {
        k: StepRun(k, cycle_ms(tps, a), a)
        for k, tps, a in ((1, 594.7, 1.85), (3, 767.8, 3.04), (7, 732.3, 4.52))
    }
    model = fit([runs[1], runs[3]])
    assert model.cycle_ms(7) == pytest.approx(5.66, abs=0.006)
    assert misfit(model, runs[7]) == pytest.approx(0.09, abs=0.003)
    assert misfit(model, runs[1]) == pytest.approx(0, abs=1e-12)
    found = model.predict(7, accept_len=4.52)
    assert found.low <= 732.3 <= found.high


def mission(k):
    """The demo host's timing model with default NCCL."""
    draft, verify = 0.174 * k, 21.86 + 1.14 * (k + 1)
    return StepRun(k, draft + verify + 0.29, accept_len_of(0.54, k), draft_ms=draft, verify_ms=verify)


def test_the_missions_costs_are_found_from_two_runs():
    model = fit([mission(5), mission(10)])
    assert (model.draft.base, model.draft.slope) == pytest.approx((0.0, 0.174), abs=1e-9)
    assert (model.verify.base, model.verify.slope) == pytest.approx((21.86, 1.14), abs=1e-9)
    found = [model.predict(k).value for k in (2, 5, 10)]
    assert found == pytest.approx([70.7, 71.0, 59.6], abs=0.06)


def test_acceptance_is_interpolated_by_position():
    model = fit([mission(5), mission(10)])
    assert model.accept_len(2) == pytest.approx(1.8316, abs=1e-6)
    assert model.accept_len(7) == pytest.approx(accept_len_of(0.54, 7), abs=1e-6)
    uneven = fit([StepRun(2, 10, accept_len_of(0.8, 2)), StepRun(6, 14, accept_len_of(0.6, 6))])
    assert uneven.accept_len(4) == pytest.approx(accept_len_of(0.7, 4), abs=1e-6)
    assert uneven.accept_len(8) == pytest.approx(accept_len_of(0.6, 8), abs=1e-6)


def test_a_histogram_beats_the_rate():
    runs = [StepRun(1, 10, 1.6), StepRun(3, 12, 2.0, accept_histogram=(40, 30, 20, 10))]
    assert fit(runs).accept_len(2) == 1.9


def test_intervals_grow_with_distance_and_with_noise():
    model = fit([StepRun(2, 10, 2), StepRun(4, 12, 2.5)])
    widths = [model.predict(k).half_width / model.predict(k).value for k in (2, 3, 6, 8)]
    assert widths[0] == pytest.approx(0.01)
    assert widths[1] < widths[2] < widths[3]
    noisy = fit([StepRun(2, 10, 2, accept_error=0.05), StepRun(4, 12, 2.5)])
    assert noisy.predict(2).half_width > 4 * model.predict(2).half_width


def test_predictions_count_the_requests():
    model = fit([StepRun(2, 10, 2), StepRun(4, 12, 2.5)])
    assert model.predict(2, running=8).value == pytest.approx(8 * model.predict(2).value)


def test_too_little_to_fit():
    assert fit([]) is None
    assert fit([StepRun(2, 10, 2)]) is None
    assert fit([StepRun(2, 10, 2), StepRun(2, 11, 2)]) is None
    assert fit([StepRun(2, 1, 2), StepRun(4, 100, 2)]) is None
    assert fit([StepRun(2, 10, 2, draft_ms=1), StepRun(4, 12, 2)]).draft is None


def test_lines():
    assert fit_line([0, 1, 2], [1, 3, 5]) == Line(1, 2)
    with pytest.raises(ValueError):
        fit_line([1, 1], [2, 3])

import pytest

from specttui.analysis.break_even import break_even, tpot_ms
from specttui.analysis.throughput import cycle_ms

K = range(2, 8)
E1 = ((2.10, 4.37), (2.29, 4.29), (2.39, 4.48), (2.43, 4.71), (2.45, 4.94), (2.47, 5.20))
E3 = ((2.36, 4.32), (2.79, 4.09), (3.08, 4.05), (3.32, 4.13), (3.46, 4.20), (3.54, 4.29))


@pytest.mark.parametrize(
    ("table", "needed", "best_k", "speed_up"),
    [
        (E1, [1.30, 1.39, 1.51, 1.62, 1.71, 1.82], 3, 1.65),
        (E3, [1.44, 1.61, 1.76, 1.94, 2.06, 2.15], 4, 1.75),
    ],
)
def test_b01_break_even_and_the_best_k_is_not_the_longest(table, needed, best_k, speed_up):
    found = [
        break_even(length, length * tpot, 7.07, num_steps=k)
        for k, (length, tpot) in zip(K, table, strict=True)
    ]
    assert [each.break_even_accept_len for each in found] == pytest.approx(needed, abs=0.006)
    best = max(found, key=lambda each: each.speed_up)
    assert K[found.index(best)] == best_k
    assert best.speed_up == pytest.approx(speed_up, abs=0.005)
    assert best.speed_up == pytest.approx(7.07 / table[best_k - 2][1])


def test_b01_a_quoted_ratio_is_recomputed():
    ratios = [break_even(length, length * tpot, 7.07).speed_up for length, tpot in E1]
    assert ratios[3:5] == pytest.approx([1.50, 1.43], abs=0.005)


def test_b02_longer_drafts_cost_more_than_they_gain():
    base = tpot_ms(128.64)
    two, four = (break_even(a, cycle_ms(tps, a), base) for a, tps in ((1.89, 175.49), (2.08, 165.65)))
    assert cycle_ms(175.49, 1.89) == pytest.approx(10.77, abs=0.005)
    assert cycle_ms(165.65, 2.08) == pytest.approx(12.56, abs=0.005)
    assert two.break_even_accept_len == pytest.approx(1.39, abs=0.006)
    assert four.break_even_accept_len == pytest.approx(1.62, abs=0.006)
    assert two.speed_up > four.speed_up


@pytest.mark.parametrize("tpot", [None, 0.0])
def test_b03_break_even_without_a_baseline_is_unknown(tpot):
    assert break_even(4.68, 12.94, tpot) is None
    assert break_even(None, 12.94, 5.0) is None
    assert break_even(4.68, None, 5.0) is None
    assert break_even(-1.0, 12.94, 5.0) is None


def test_b03_cycles_tell_execution_from_acceptance():
    runs = [(361.70, 4.68), (378.57, 5.39), (230.08, 3.76), (276.30, 5.36)]
    assert [cycle_ms(*run) for run in runs] == pytest.approx([12.94, 14.24, 16.34, 19.40], abs=0.006)


@pytest.mark.parametrize(("k", "tps", "length", "normalised", "needed"), [
    (1, 594.7, 1.85, 3.111, 1.39), (3, 767.8, 3.04, 3.959, 1.77), (7, 732.3, 4.52, 6.172, 2.76),
])  # fmt: skip
def test_b05_break_even(k, tps, length, normalised, needed):
    assert cycle_ms(tps, length) == pytest.approx(normalised, abs=0.0006)
    found = break_even(length, cycle_ms(tps, length), tpot_ms(447.2), num_steps=k)
    assert found.break_even_accept_len == pytest.approx(needed, abs=0.006)
    assert found.headroom == pytest.approx(length - needed, abs=0.006)


B06 = [
    (222.47, 159.78, 1.86, 1, 2.59, 0.72), (222.47, 172.99, 2.20, 1, 2.83, 0.78),
    (222.47, 207.62, 1.99, 1, 2.13, 0.93), (222.47, 191.90, 2.52, 1, 2.92, 0.86),
    (222.47, 171.54, 2.42, 1, 3.14, 0.77), (222.47, 177.5, 3.2, 1, 4.01, 0.80),
    (566.21, 447.90, 1.86, 4, 2.35, 0.79), (566.21, 426.46, 2.27, 4, 3.01, 0.75),
]  # fmt: skip


@pytest.mark.parametrize(("base", "tps", "length", "batch", "needed", "ratio"), B06)
def test_b06_every_configuration_below_the_baseline(base, tps, length, batch, needed, ratio):
    found = break_even(length, cycle_ms(tps, length, batch), tpot_ms(base, batch))
    assert found.break_even_accept_len == pytest.approx(needed, abs=0.006)
    assert found.speed_up == pytest.approx(ratio, abs=0.006)
    assert found.headroom < 0
    assert not found.cannot_win


@pytest.mark.parametrize(("base", "spec", "ratio"), [(21, 30, 1.43), (61, 59, 0.97)])
def test_b07_tp_flips_the_sign(base, spec, ratio):
    assert break_even(2.0, cycle_ms(spec, 2.0), tpot_ms(base)).speed_up == pytest.approx(ratio, abs=0.005)


def test_b08_cannot_win_at_any_acceptance():
    cycle = cycle_ms(128.3, 1.97)
    found = break_even(1.97, cycle, tpot_ms(342.2), num_steps=1)
    assert cycle == pytest.approx(15.35, abs=0.006)
    assert found.break_even_accept_len == pytest.approx(5.25, abs=0.006)
    assert (found.cannot_win, found.accept_len_max) == (True, 2.0)
    assert 1 / found.speed_up == pytest.approx(2.7, abs=0.05)


def test_without_steps_the_draft_tokens_bound_it():
    assert break_even(2.0, 50.0, 10.0, draft_tokens=4).cannot_win
    assert not break_even(2.0, 50.0, 10.0, draft_tokens=5).cannot_win
    assert not break_even(2.0, 50.0, 10.0).cannot_win


@pytest.mark.parametrize(
    ("spec", "base", "rate", "speed_up", "cycle", "needed"),
    [
        (95.6, 59.0, 0.577, 1.62, 28.6, 1.69), (148.4, 92.4, 0.563, 1.61, 36.2, 1.67),
        (247.0, 164.2, 0.581, 1.50, 44.4, 1.82), (200.9, 251.4, 0.512, 0.80, 101.0, 3.17),
        (312.6, 428.7, 0.521, 0.73, 131.2, 3.51), (405.4, 317.8, 0.533, 1.28, 205.2, 2.04),
    ],
)  # fmt: skip
def test_b11_speed_up_by_concurrency(spec, base, rate, speed_up, cycle, needed):
    running = {95.6: 1, 148.4: 2, 247.0: 4, 200.9: 8, 312.6: 16, 405.4: 32}[spec]
    length = 1 + 3 * rate
    found = break_even(length, cycle_ms(spec, length, running), tpot_ms(base, running), num_steps=3)
    assert cycle_ms(spec, length, running) == pytest.approx(cycle, abs=0.06)
    assert found.speed_up == pytest.approx(speed_up, abs=0.006)
    assert found.break_even_accept_len == pytest.approx(needed, abs=0.006)


def test_no_time_per_token_without_throughput():
    with pytest.raises(ValueError):
        tpot_ms(0)

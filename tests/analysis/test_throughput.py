import pytest

from specttui.analysis.throughput import cycle_ms, log_interval, spread, throughput_tok_s, unaccounted


def test_a04_cycle_of_one_line():
    assert cycle_ms(178.86, 1.95) == pytest.approx(10.90, abs=0.005)


def test_b09_the_model_holds_line_by_line():
    lines = [(1.95, 178.86), (1.80, 165.41), (2.05, 188.68), (1.80, 165.59)]
    cycles = [cycle_ms(tps, length) for length, tps in lines]
    assert cycles == pytest.approx([10.90, 10.88, 10.86, 10.87], abs=0.006)
    assert spread(cycles) == pytest.approx(0.004, abs=0.0006)


def test_b10_the_cycle_is_one_over_8_ranks():
    lines = [(2.90, 171.01), (2.86, 168.28), (2.94, 173.06), (2.65, 155.80), (2.58, 152.08)]
    cycles = [cycle_ms(tps, length, running=8) for length, tps in lines]
    assert min(cycles) == pytest.approx(135.7, abs=0.05)
    assert max(cycles) == pytest.approx(136.1, abs=0.05)


def test_a20_the_log_interval_from_tokens_and_acceptance():
    for tokens, length in ((78, 1.95), (72, 1.80), (82, 2.05)):
        assert log_interval(tokens, length) == pytest.approx(40, abs=1e-9)


@pytest.mark.parametrize(
    ("steps", "cycle", "tok_s"), [(2, 25.918, 70.7), (2, 19.471, 94.1), (5, 29.86, 71.0)]
)
def test_the_missions_throughput(steps, cycle, tok_s):
    accept_len = (1 - 0.54 ** (steps + 1)) / (1 - 0.54)
    assert throughput_tok_s(cycle, accept_len) == pytest.approx(tok_s, abs=0.06)


def test_measured_beside_computed():
    assert unaccounted(96, 100) is None
    assert unaccounted(104, 100) is None
    assert unaccounted(80, 100) == pytest.approx(-0.2)
    assert unaccounted(120, 100) == pytest.approx(0.2)
    assert unaccounted(80, 0) is None


def test_what_is_not_there_cannot_be_computed():
    for call in (lambda: cycle_ms(0, 2), lambda: throughput_tok_s(0, 2), lambda: log_interval(40, 0)):
        with pytest.raises(ValueError):
            call()

"""Decode lines folded into server-wide figures."""

from __future__ import annotations

import pytest
from support.envelopes import decode

from specttui.log.meaning.cycle import line_cycle_ms
from specttui.state.decode import DecodeFold


@pytest.mark.parametrize(
    ("accept_len", "tok_s", "expected"),
    [(1.95, 178.86, 10.90), (1.80, 165.41, 10.88), (2.05, 188.68, 10.86), (1.80, 165.59, 10.87)],
)
def test_cycle_follows_from_one_line(accept_len: float, tok_s: float, expected: float) -> None:
    """CASES B09: the model holds line by line."""
    assert line_cycle_ms(decode(tok_s, accept_len)) == pytest.approx(expected, abs=0.005)


def test_cycle_without_speculation_is_the_time_per_token() -> None:
    assert line_cycle_ms(decode(88.8)) == pytest.approx(11.26, abs=0.01)
    assert line_cycle_ms(decode(0.0)) is None


def test_data_parallel_groups_add_up() -> None:
    """CASES A03: five DP ranks seen, system throughput is their sum, accept length their weighted mean."""
    fold = DecodeFold()
    lines = [("DP6 TP6", 2.86, 168.28), ("DP0 TP0", 2.90, 171.01), ("DP5 TP5", 2.94, 173.06)]
    lines += [("DP7 TP7", 2.65, 155.80), ("DP2 TP2", 2.58, 152.08)]
    sample = None
    for rank, accept_len, tok_s in lines:
        sample = fold.add(1.0, decode(tok_s, accept_len, running=8, rank=rank))
    assert sample is not None
    assert sample.server_tok_s == pytest.approx(820.23)
    assert sample.accept_len == pytest.approx(2.786)
    assert sample.running == 40


def test_tensor_parallel_duplicates_never_add_up() -> None:
    fold = DecodeFold()
    first = fold.add(1.0, decode(100.0, 2.0, rank="TP0"))
    assert fold.add(1.0, decode(100.0, 2.0, rank="TP1")) is None
    assert first is not None
    assert first.server_tok_s == 100.0


def test_silent_group_leaves_the_sum() -> None:
    fold = DecodeFold()
    fold.add(0.0, decode(100.0, rank="DP0 TP0"))
    assert fold.add(10.0, decode(50.0, rank="DP1 TP1")).server_tok_s == 150.0  # type: ignore[union-attr]
    assert fold.add(60.0, decode(60.0, rank="DP1 TP1")).server_tok_s == 60.0  # type: ignore[union-attr]


def test_first_line_after_idle_is_not_steady() -> None:
    """CASES A19: 0.39 tok/s spans the gap; the steady mean of the next three is 177.65."""
    fold = DecodeFold()
    samples = [
        fold.add(float(index), decode(tok_s, accept_len))
        for index, (tok_s, accept_len) in enumerate(
            [(0.39, 2.17), (178.86, 1.95), (165.41, 1.8), (188.68, 2.05)]
        )
    ]
    steady = [sample.server_tok_s for sample in samples if sample is not None and sample.steady]
    assert sum(steady) / 3 == pytest.approx(177.65)  # type: ignore[arg-type]


def test_gap_in_the_middle_is_marked_and_a_lasting_slowdown_is_believed() -> None:
    fold = DecodeFold()
    rates = [100.0, 100.0, 101.0, 99.0, 4.0, 100.0, 20.0, 20.5, 20.2]
    steady = [fold.add(float(index), decode(rate)).steady for index, rate in enumerate(rates)]  # type: ignore[union-attr]
    assert steady == [False, True, True, True, False, True, False, True, True]

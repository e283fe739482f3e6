import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specttui.analysis.breakdown import breakdown
from specttui.events import Phase


def shares(found):
    return {row.phase: row.share for row in found.rows}


def test_shares_medians_and_tails():
    found = breakdown(
        {
            Phase.DRAFT: [1.0, 1.0, 1.0, 1.0],
            Phase.VERIFY: [7.0, 7.0, 7.0, 11.0],
            Phase.TARGET_FORWARD: [6.0, 6.0, 6.0, 10.0],
            Phase.ACCEPT: [0.5, 0.5, 0.5, 0.5],
            Phase.DRAFT_EXTEND: [1.0, 1.0, 1.0, 1.0],
        },
        [10.0, 10.0, 10.0, 14.0],
    )
    assert [row.phase for row in found.rows] == [
        Phase.VERIFY, Phase.TARGET_FORWARD, Phase.ACCEPT, Phase.DRAFT, Phase.DRAFT_EXTEND, Phase.OTHER,
    ]  # fmt: skip
    assert shares(found) == pytest.approx(
        {
            Phase.VERIFY: 32 / 44,
            Phase.TARGET_FORWARD: 28 / 44,
            Phase.ACCEPT: 2 / 44,
            Phase.DRAFT: 4 / 44,
            Phase.DRAFT_EXTEND: 4 / 44,
            Phase.OTHER: 4 / 44,
        }
    )
    assert (found.cycles, found.mean_cycle_ms, found.median_cycle_ms) == (4, 11.0, 10.0)
    verify = found.row(Phase.VERIFY)
    assert (verify.median_ms, verify.p95_ms) == (7.0, pytest.approx(10.4))
    assert found.row(Phase.TARGET_FORWARD).part_of is Phase.VERIFY
    assert [row.phase for row in found.rows if not row.counted] == [Phase.TARGET_FORWARD, Phase.ACCEPT]
    assert found.largest is verify
    assert found.note == ""


def test_the_story_of_the_mission_at_2_steps_with_ll():
    verify, draft, extend = 0.745 * (21.86 + 1.14 * 3), 0.174 * 2, 0.29
    cycle = verify + draft + extend
    found = breakdown({Phase.VERIFY: [verify], Phase.DRAFT: [draft], Phase.DRAFT_EXTEND: [extend]}, [cycle])
    assert cycle == pytest.approx(19.47, abs=0.005)
    assert found.row(Phase.VERIFY).share == pytest.approx(0.967, abs=0.0005)
    assert found.row(Phase.OTHER).share == pytest.approx(0.0, abs=1e-12)


times = st.one_of(st.none(), st.floats(0, 1e4))


@given(
    st.fixed_dictionaries({}, optional={phase: st.lists(times, max_size=8) for phase in Phase}),
    st.lists(times, max_size=8),
)
def test_counted_shares_sum_to_exactly_1_and_none_is_negative(phase_ms, cycle_ms):
    found = breakdown(phase_ms, cycle_ms)
    if not found.cycles:
        assert found.rows == ()
        return
    assert sum(row.share for row in found.rows if row.counted) == 1.0
    assert all(row.share >= 0 for row in found.rows)


def test_unknown_cycle_takes_the_sum_of_phases():
    found = breakdown({Phase.DRAFT: [1.0, 1.0], Phase.VERIFY: [3.0, 3.0]}, [None, None])
    assert shares(found) == {Phase.VERIFY: 0.75, Phase.DRAFT: 0.25}
    assert (found.mean_cycle_ms, found.median_cycle_ms) == (4.0, None)
    assert found.note == "cycle time unknown: shares are of the sum of phases"


def test_cycles_after_a_pause_are_left_out():
    found = breakdown({Phase.VERIFY: [9.0, 5.0, 5.0]}, [None, 10.0, 10.0])
    assert (found.cycles, shares(found)) == (2, {Phase.VERIFY: 0.5, Phase.OTHER: 0.5})


def test_cycles_without_any_phase_are_left_out():
    found = breakdown({Phase.VERIFY: [None, 8.0]}, [10.0, 10.0])
    assert (found.cycles, shares(found)[Phase.VERIFY]) == (1, 0.8)


def test_a_cycle_without_one_phase_counts_it_as_nothing():
    found = breakdown({Phase.VERIFY: [8.0, 8.0], Phase.DRAFT_EXTEND: [None, 2.0]}, [10.0, 10.0])
    assert shares(found) == pytest.approx({Phase.VERIFY: 0.8, Phase.DRAFT_EXTEND: 0.1, Phase.OTHER: 0.1})
    assert found.row(Phase.DRAFT_EXTEND).median_ms == 2.0


def test_parts_that_are_timed_in_some_cycles_have_the_share_of_those():
    found = breakdown(
        {
            Phase.VERIFY: [7.0, 8.0, 9.0, 9.0, 11.0],
            Phase.TARGET_FORWARD: [6.0, None, None, None, 10.0],
            Phase.KV: [None, None, None, None, 1.5],
            Phase.ACCEPT: [None] * 5,
        },
        [8.0, 10.0, 12.0, 12.0, 12.0],
        missing={Phase.ACCEPT: "elsewhere"},
    )
    assert shares(found) == pytest.approx(
        {
            Phase.VERIFY: 44 / 54,
            Phase.TARGET_FORWARD: 8.0 / 10.0,
            Phase.KV: 1.5 / 12.0,
            Phase.ACCEPT: None,
            Phase.OTHER: 10 / 54,
        }
    )
    assert found.row(Phase.TARGET_FORWARD).median_ms == 8.0
    assert found.mean_cycle_ms == 54 / 5


def test_shares_of_parts_where_the_cycle_is_unknown_are_of_the_sum_of_their_cycles_phases():
    found = breakdown(
        {Phase.DRAFT: [1.0, 1.0], Phase.VERIFY: [3.0, 7.0], Phase.ACCEPT: [None, 2.0]}, [None, None]
    )
    assert shares(found) == pytest.approx({Phase.VERIFY: 10 / 12, Phase.DRAFT: 2 / 12, Phase.ACCEPT: 2 / 8})


def test_a_part_that_no_cycle_of_known_length_has_is_left_out():
    found = breakdown({Phase.VERIFY: [8.0, 8.0], Phase.ACCEPT: [1.0, None]}, [None, 10.0])
    assert found.row(Phase.ACCEPT) is None


def test_phases_that_exceed_the_cycle_are_told():
    found = breakdown({Phase.DRAFT: [2.0], Phase.VERIFY: [10.0]}, [10.0])
    assert shares(found) == pytest.approx({Phase.VERIFY: 10 / 12, Phase.DRAFT: 2 / 12, Phase.OTHER: 0.0})
    assert found.note == "phases add up to 120 % of the cycle: they overlap, shares are of their sum"
    assert breakdown({Phase.VERIFY: [10.1]}, [10.0]).note == ""


def test_kv_is_shown_beneath_verify_and_not_added():
    found = breakdown({Phase.VERIFY: [8.0], Phase.KV: [3.0]}, [10.0])
    kv = found.row(Phase.KV)
    assert (kv.share, kv.counted, kv.part_of) == (pytest.approx(0.3), False, Phase.VERIFY)
    assert found.row(Phase.OTHER).share == pytest.approx(0.2)


def test_prefill_is_outside_the_cycle():
    found = breakdown({Phase.VERIFY: [8.0], Phase.PREFILL_TARGET: [50.0]}, [10.0])
    assert found.row(Phase.PREFILL_TARGET) is None


def test_missing_phases_have_a_row_and_a_reason():
    found = breakdown(
        {Phase.VERIFY: [8.0]}, [10.0], missing={Phase.ACCEPT: "another file", Phase.VERIFY: "x"}
    )
    accept = found.row(Phase.ACCEPT)
    assert (accept.share, accept.median_ms, accept.reason) == (None, None, "another file")
    assert found.row(Phase.VERIFY).share == pytest.approx(0.8)
    assert breakdown({}, [], missing={Phase.DRAFT: "why"}).rows[0].reason == "why"


def test_host_bound_by_other():
    assert not breakdown({Phase.VERIFY: [9.0]}, [10.0]).host_bound
    assert breakdown({Phase.VERIFY: [8.9]}, [10.0]).host_bound


@pytest.mark.parametrize(("cpu_draft", "bound"), [(0.60, False), (0.95, True)])
def test_host_bound_by_launching_the_draft(cpu_draft, bound):
    """v2's draft took 0.60 ms of CPU for 0.99 ms of GPU; v1's verify waits, so its CPU time says nothing."""
    gpu = {Phase.DRAFT: [0.99], Phase.VERIFY: [5.68], Phase.DRAFT_EXTEND: [0.36]}
    cpu = {Phase.DRAFT: [cpu_draft], Phase.VERIFY: [6.08], Phase.DRAFT_EXTEND: [0.66]}
    found = breakdown(gpu, [7.1], cpu_ms=cpu)
    assert found.host_bound is bound
    assert found.row(Phase.VERIFY).cpu_median_ms == 6.08


def test_nothing_is_known():
    found = breakdown({}, [])
    assert (found.rows, found.cycles, found.mean_cycle_ms, found.largest) == ((), 0, None, None)


def test_many_cycles_with_noise():
    rng = random.Random(4)
    verify = [5.0 * rng.lognormvariate(0, 0.1) for _ in range(512)]
    found = breakdown({Phase.VERIFY: verify}, [value + 1.0 for value in verify])
    assert found.row(Phase.OTHER).median_ms == pytest.approx(1.0)
    assert sum(row.share for row in found.rows) == 1.0

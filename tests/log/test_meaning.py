"""Meaning beyond fields: cycle time from the log, intervals, missing lines, ranks, settings."""

from __future__ import annotations

from typing import Any

import pytest

from specttui.events import DecodeStats, MemoryPressure, PrefillStats, ServerArguments
from specttui.log.meaning.accept_rate import accept_rates, implied_draft_tokens
from specttui.log.meaning.cycle import cycle_ms
from specttui.log.meaning.interval import cycles_between, log_interval, missing_lines
from specttui.log.meaning.marks import CALM_LINES, LineMarker, Mark
from specttui.log.meaning.settings import argument_name, differences, effective_settings
from specttui.log.ranks import LoggingRanks, dimensions, series_key, system_decode


@pytest.mark.parametrize(
    ("accept_len", "throughput", "milliseconds"),
    [(1.95, 178.86, 10.90), (1.80, 165.41, 10.88), (2.05, 188.68, 10.86), (1.80, 165.59, 10.87)],
)
def test_b09_cycle_line_by_line(accept_len: float, throughput: float, milliseconds: float) -> None:
    assert cycle_ms(1, accept_len, throughput) == pytest.approx(milliseconds, abs=0.006)


def test_b10_ranks_differ_only_by_acceptance() -> None:
    lines = [(2.90, 171.01), (2.86, 168.28), (2.94, 173.06), (2.65, 155.80), (2.58, 152.08)]
    cycles = [cycle_ms(8, accept_len, throughput) for accept_len, throughput in lines]
    assert min(cycles) == pytest.approx(135.7, abs=0.05)
    assert max(cycles) == pytest.approx(136.1, abs=0.05)


@pytest.mark.parametrize("missing", [(0, 2.0, 10.0), (None, 2.0, 10.0), (1, 2.0, 0.0), (1, 2.0, None)])
def test_no_figure_no_cycle(missing: tuple[int | None, float, float | None]) -> None:
    assert cycle_ms(*missing) is None


def test_without_speculation_the_cycle_is_the_time_per_token() -> None:
    assert cycle_ms(1, None, 204.1) == pytest.approx(4.90, abs=0.005)


def line(
    tokens: int, accept_len: float | None = 2.0, running: int = 1, rank: str = "", **more: Any
) -> DecodeStats:
    values = {"throughput_tok_s": 200.0, "token_usage": 0.1} | more
    return DecodeStats(tokens=tokens, accept_len=accept_len, running=running, rank=rank, **values)


def test_a20_a_missing_line_is_seen_in_the_tokens() -> None:
    lines = [line(100), line(180), line(260), line(420), line(500)]
    assert log_interval(lines) == 40
    assert missing_lines(lines, 40) == 1
    assert missing_lines([line(100), line(180), line(500)], 40) == 3


def test_cycles_between_needs_the_same_requests() -> None:
    assert cycles_between(line(100), line(180)) == 40.0
    assert cycles_between(line(100, running=8), line(740, running=8)) == 40.0
    assert cycles_between(line(100), line(260, running=2)) is None
    assert cycles_between(line(600), line(180)) is None
    assert cycles_between(line(100, None), line(140, None)) == 40.0


def test_interval_is_unknown_without_agreement() -> None:
    assert log_interval([line(100)]) is None
    assert log_interval([line(100), line(180)]) == 40
    assert log_interval([line(100), line(120), line(200)]) is None


def test_pressure_ends_when_the_pool_has_room_again() -> None:
    marker = LineMarker()
    marker.mark(line(1))
    marker.pressure(MemoryPressure())
    full, free = line(1, token_usage=0.95), line(1, token_usage=0.5)
    assert [marker.mark(full), marker.mark(free)] == [Mark.KV_PRESSURE] * 2
    marker.pressure(MemoryPressure())
    assert [marker.mark(free) for _ in range(CALM_LINES + 1)] == [
        *[Mark.KV_PRESSURE] * CALM_LINES,
        Mark.STEADY,
    ]


def test_a_changed_number_of_requests_is_no_steady_line() -> None:
    marker = LineMarker()
    marks = [marker.mark(line(1, running=running)) for running in (1, 1, 2, 2)]
    assert marks == [Mark.AFTER_IDLE, Mark.STEADY, Mark.BATCH_CHANGED, Mark.STEADY]


def test_two_long_windows_are_a_new_normal() -> None:
    marker = LineMarker()
    rates = (200.0, 200.0, 200.0, 40.0, 40.0, 40.0)
    marks = [marker.mark(line(1, throughput_tok_s=rate)) for rate in rates]
    assert marks == [Mark.AFTER_IDLE, Mark.STEADY, Mark.STEADY, Mark.AFTER_IDLE, Mark.STEADY, Mark.STEADY]


def test_groups_are_marked_apart_and_forgotten_at_a_restart() -> None:
    marker = LineMarker()
    assert marker.mark(line(1, rank="DP0 TP0")) is Mark.AFTER_IDLE
    assert marker.mark(line(1, rank="DP1 TP0")) is Mark.AFTER_IDLE
    assert marker.mark(line(1, rank="DP0 TP0")) is Mark.STEADY
    marker.restart()
    assert marker.mark(line(1, rank="DP0 TP0")) is Mark.AFTER_IDLE
    assert marker.mark(line(1, running=0)) is Mark.EMPTY


def test_dimensions_and_series() -> None:
    assert dimensions("DP1 PP0 ATTN_CP2 MOE_DP3 TP4 EP5") == {
        "DP": 1, "PP": 0, "ATTN_CP": 2, "MOE_DP": 3, "TP": 4, "EP": 5,
    }  # fmt: skip
    assert dimensions("") == dimensions("rank5") == {}
    assert [series_key(label) for label in ("", "TP3", "DP2 TP3", "MOE_DP1 TP0")] == ["", "", "DP2", ""]


def test_the_lowest_rank_of_a_group_is_the_one_that_counts() -> None:
    ranks = LoggingRanks()
    assert [ranks.counts(label) for label in ("DP0 TP1", "DP0 TP0", "DP0 TP1", "DP0 PP1 TP0")] == [
        True, True, False, False,
    ]  # fmt: skip


def test_system_decode_without_figures() -> None:
    assert system_decode([]) is None
    assert system_decode([DecodeStats(running=1)]) is None
    system = system_decode([line(1, None)])
    assert system is not None
    assert (system.accept_len, system.throughput_tok_s) == (None, 200.0)


def test_accept_rates_without_draft_tokens() -> None:
    rates = accept_rates(2.0, None)
    assert (rates.per_step, rates.per_draft_token, rates.of_drafts) == (None, None, None)
    assert accept_rates(1.0, 1).of_drafts is None
    assert implied_draft_tokens(1.0, 0.0) is None


def test_the_listing_overrules_and_late_words_overrule_the_listing() -> None:
    listing = ServerArguments(arguments={"speculative_num_draft_tokens": "4", "max_running_requests": "64"})
    assert effective_settings({"--speculative-num-draft-tokens": "8"}, (), listing) == {
        "speculative_num_draft_tokens": "4",
        "max_running_requests": "64",
    }
    assert [
        (entry.name, entry.effective) for entry in differences({"--max-running-requests": "64"}, (), listing)
    ] == []
    assert argument_name("--tp") == "tp_size"


def test_a_window_that_began_long_before_its_request_spans_idle_time_also_twice_in_a_row() -> None:
    """Bursts of one line each: every window holds the gap before, and none is a new normal."""
    marker = LineMarker()
    marks = []
    for second in (0, 15, 30, 45):
        marker.prefill(PrefillStats(running=0, stamp=f"2026-11-29 12:00:{second:02d}"))
        marks.append(marker.mark(line(1, throughput_tok_s=5.3, stamp=f"2026-11-29 12:00:{second + 1:02d}")))
    assert marks == [Mark.AFTER_IDLE] * 4


def test_requests_one_after_the_other_are_no_idle_time() -> None:
    marker = LineMarker()
    marks = []
    for second in range(5):
        marker.prefill(PrefillStats(running=0, stamp=f"2026-11-29 12:00:{second:02d}"))
        marks.append(marker.mark(line(1, throughput_tok_s=80.0, stamp=f"2026-11-29 12:00:{second:02d}")))
    assert marks == [Mark.AFTER_IDLE, *[Mark.STEADY] * 4]


def test_a_request_that_joins_others_is_no_sign_of_idleness() -> None:
    marker = LineMarker()
    marker.mark(line(1))
    marker.prefill(PrefillStats(running=3, stamp="2026-11-29 12:00:00"))
    assert marker.mark(line(1, stamp="2026-11-29 12:00:00")) is Mark.STEADY


def test_the_line_after_a_switch_of_steps_covers_both() -> None:
    marker = LineMarker()
    marks = [marker.mark(line(1)), marker.mark(line(1))]
    marker.switch()
    marks += [marker.mark(line(1)), marker.mark(line(1))]
    assert marks == [Mark.AFTER_IDLE, Mark.STEADY, Mark.STEPS_CHANGED, Mark.STEADY]


def test_the_usual_window_is_the_median_of_the_last_ones() -> None:
    marker = LineMarker()
    rates = [200.0] * 3 + [100.0] * 40
    assert {marker.mark(line(1, throughput_tok_s=rate)) for rate in rates[1:]} == {
        Mark.AFTER_IDLE,
        Mark.STEADY,
    }
    # 200 tok/s are long forgotten: three times the window of 100 tok/s is not reached, then passed.
    assert marker.mark(line(1, throughput_tok_s=34.0)) is Mark.STEADY
    assert marker.mark(line(1, throughput_tok_s=33.0)) is Mark.AFTER_IDLE

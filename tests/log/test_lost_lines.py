"""Lines that were lost on the way are noticed as lines come (CASES A20, E04)."""

from __future__ import annotations

from specttui.events import DecodeStats, PrefillStats
from specttui.log.meaning.lost import LostLines


def line(
    tokens: int, second: float = 0.0, accept_len: float = 2.0, running: int = 1, tok_s: float = 80.0
) -> DecodeStats:
    """A line at 25 ms a cycle: 40 cycles are 80 tokens and one second."""
    stamp = f"2026-11-29 12:00:{second:06.3f}" if second else ""
    return DecodeStats(
        tokens=tokens, accept_len=accept_len, running=running, throughput_tok_s=tok_s, stamp=stamp, rank="TP0"
    )


def test_a20_facts_have_no_gap_and_a_removed_line_is_one() -> None:
    facts = [(108, 2.17), (186, 1.95), (258, 1.80), (340, 2.05)]
    lost = LostLines(40)
    assert [lost.line("", line(tokens, accept_len=length)) for tokens, length in facts] == [0, 0, 0, 0]
    lost = LostLines(40)
    lost.line("", line(108))
    assert lost.line("", line(108 + 240)) == 2


def test_the_interval_is_learnt() -> None:
    lost = LostLines()
    assert [lost.line("", line(100 + 20 * index)) for index in range(9)] == [0] * 9
    assert lost.interval == 10
    assert lost.line("", line(100 + 20 * 8 + 60)) == 2


def test_a_prompt_is_no_progress() -> None:
    lost = LostLines(40)
    lost.line("", line(100))
    lost.prefill(PrefillStats(rank="TP0", new_sequences=1, new_tokens=160))
    assert lost.line("", line(340)) == 0
    assert lost.line("", line(340 + 160)) == 1


def test_groups_are_told_apart() -> None:
    lost = LostLines(40)
    lost.line("DP0", line(100))
    lost.line("DP1", line(1000))
    assert lost.line("DP0", line(260)) == 1
    assert lost.line("DP1", line(1080)) == 0


def test_tokens_that_do_not_fit_the_time_are_no_lost_lines() -> None:
    lost = LostLines(40)
    lost.line("", line(100, second=1.0))
    assert lost.line("", line(100 + 480, second=2.0)) == 0
    assert lost.line("", line(100 + 960, second=8.0)) == 5


def test_a_changed_batch_says_nothing() -> None:
    lost = LostLines(40)
    lost.line("", line(100))
    assert lost.line("", line(420, running=2)) == 0

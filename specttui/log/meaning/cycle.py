"""Cycle time from a decode line alone: what makes an unpatched server's log useful."""

from __future__ import annotations

from specttui.events import DecodeStats


def cycle_ms(running: int | None, accept_len: float | None, throughput_tok_s: float | None) -> float | None:
    """Milliseconds per decode cycle: 1000 x running x accept length / throughput (CASES.md B09, B10).

    Every running request emits `accept_len` tokens per cycle, so throughput = running x accept_len / cycle.

    Args:
        running: Requests running at once, on the line's rank.
        accept_len: Tokens per cycle and request, bonus token included; None without speculation (one).
        throughput_tok_s: Tokens per second over these requests.

    Returns:
        The cycle in ms (without speculation the time per token), None where a figure is missing or zero.
    """
    if not running or not throughput_tok_s or running < 0 or throughput_tok_s < 0:
        return None
    return 1000.0 * running * (1.0 if accept_len is None else accept_len) / throughput_tok_s


def line_cycle_ms(line: DecodeStats) -> float | None:
    """`cycle_ms` of one decode line."""
    return cycle_ms(line.running, line.accept_len, line.throughput_tok_s)

"""Break-even: the accept length at which speculation is just as fast as decoding without it.

With cycle time C and the baseline's time per token and request TPOT_0, both at the same load, speculation
emits A tokens in C where the baseline needs A * TPOT_0. So break-even A* = C / TPOT_0, speed-up = A / A*,
headroom = A - A*.
"""

from __future__ import annotations

from dataclasses import dataclass

from specttui.analysis.acceptance import accept_len_max


@dataclass(frozen=True, slots=True)
class BreakEven:
    """Break-even figures. `cannot_win`: even full acceptance would be slower than the baseline."""

    accept_len: float
    break_even_accept_len: float
    speed_up: float
    headroom: float
    cannot_win: bool
    accept_len_max: float | None = None


def break_even(
    accept_len: float | None,
    cycle_ms: float | None,
    baseline_tpot_ms: float | None,
    *,
    num_steps: int | None = None,
    draft_tokens: int | None = None,
) -> BreakEven | None:
    """Compare a speculative run with the baseline.

    Args:
        accept_len: Tokens per cycle and request, the bonus token included.
        cycle_ms: The run's cycle time.
        baseline_tpot_ms: The baseline's time per token and request at the same load.
        num_steps: The run's step count, which bounds the accept length.
        draft_tokens: The run's draft tokens, the bound where there are no steps.

    Returns:
        The figures, or None when one of the three is unknown or not positive: break-even without a baseline
        is unknown, never 1.
    """
    if not accept_len or not cycle_ms or not baseline_tpot_ms:
        return None
    if min(accept_len, cycle_ms, baseline_tpot_ms) <= 0:
        return None
    needed = cycle_ms / baseline_tpot_ms
    most = accept_len_max(num_steps, draft_tokens)
    return BreakEven(
        accept_len=accept_len,
        break_even_accept_len=needed,
        speed_up=accept_len / needed,
        headroom=accept_len - needed,
        cannot_win=most is not None and needed > most,
        accept_len_max=most,
    )


def tpot_ms(throughput_tok_s: float, running: float = 1.0) -> float:
    """Time per token and request of a server that decodes R requests without speculation: 1000 R / tok/s.

    Raises:
        ValueError: The throughput is not positive.
    """
    if throughput_tok_s <= 0:
        raise ValueError("no time per token without throughput")
    return 1000 * running / throughput_tok_s

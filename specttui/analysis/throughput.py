"""How throughput, accept length, cycle time and batch size hang together, and checks that they do.

With R requests decoding at once, accept length A (tokens per cycle and request, the bonus token included)
and cycle time C: server throughput = R * A / C.
"""

from __future__ import annotations

from collections.abc import Sequence

from specttui.analysis.stats import median

#: Measured and computed throughput may part by this much before something is unaccounted for.
_UNACCOUNTED = 0.05


def cycle_ms(throughput_tok_s: float, accept_len: float, running: float = 1.0) -> float:
    """The cycle time in ms that a log line implies: 1000 R A / throughput.

    Raises:
        ValueError: The throughput is not positive.
    """
    if throughput_tok_s <= 0:
        raise ValueError("no cycle time without throughput")
    return 1000 * running * accept_len / throughput_tok_s


def throughput_tok_s(cycle_time_ms: float, accept_len: float, running: float = 1.0) -> float:
    """The server's throughput in tokens per second: 1000 R A / C.

    Raises:
        ValueError: The cycle time is not positive.
    """
    if cycle_time_ms <= 0:
        raise ValueError("no throughput without a cycle time")
    return 1000 * running * accept_len / cycle_time_ms


def spread(values: Sequence[float]) -> float:
    """The relative spread of values that should agree: (max - min) / median."""
    return (max(values) - min(values)) / median(values)


def unaccounted(measured_tok_s: float, computed_tok_s: float) -> float | None:
    """By how much measured throughput misses the computed one, as a ratio minus 1; None when they agree.

    Agreement is within 5 %. A shortfall means time outside the cycles (prefill, idle); an excess means that
    cycles were missed.
    """
    if computed_tok_s <= 0:
        return None
    difference = measured_tok_s / computed_tok_s - 1
    return difference if abs(difference) > _UNACCOUNTED else None


def log_interval(tokens_between_lines: float, accept_len: float, running: float = 1.0) -> float:
    """Decode forwards between two log lines: new tokens / (R A); SGLang's `--decode-log-interval`.

    Raises:
        ValueError: The accept length or the number of requests is not positive.
    """
    if accept_len <= 0 or running <= 0:
        raise ValueError("no interval without tokens per forward")
    return tokens_between_lines / (accept_len * running)

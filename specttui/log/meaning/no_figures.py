"""Why a log shows no decode line although requests are served (CASES.md A25)."""

from __future__ import annotations

from collections.abc import Mapping

from specttui.log.meaning.interval import DEFAULT_INTERVAL

#: So many requests without a decode line call for a word.
ENOUGH_REQUESTS = 20
_QUIET_LEVELS = frozenset({"warning", "error", "critical"})
_OFFER = "Restart with --decode-log-interval 5 to see short answers too."


def explain_no_decode(
    requests: int,
    decode_lines: int,
    arguments: Mapping[str, str] | None = None,
    prefills: int | None = None,
) -> str | None:
    """Say why there is no throughput: unknown is not zero.

    Args:
        requests: Requests that were answered since the server became ready, those of monitors included.
        decode_lines: Decode lines seen since then.
        arguments: The server's arguments as far as they are known.
        prefills: Sequences in the prefill lines since then; None if they were not counted.

    Returns:
        The likely reason with a way out, or None while there is nothing to explain.
    """
    if decode_lines or max(requests, prefills or 0) < ENOUGH_REQUESTS:
        return None
    known = arguments or {}
    level = known.get("log_level", "").casefold()
    if level in _QUIET_LEVELS:
        return f"At --log-level {level} the server prints no decode lines. Restart without that flag."
    if prefills == 0:
        return (
            f"{requests} requests were answered, but the log shows neither prefill nor decode lines: either "
            "only health checks and metrics were asked for, or the log level hides SGLang's own lines."
        )
    interval = known.get("decode_log_interval", "")
    if interval.isdigit() and int(interval) > DEFAULT_INTERVAL:
        return (
            f"A decode line comes every {interval} cycles only (--decode-log-interval {interval}). {_OFFER}"
        )
    cycles = interval if interval.isdigit() else str(DEFAULT_INTERVAL)
    return (
        f"{prefills or requests} requests were answered without a decode line: the answers may be too short "
        f"to reach {cycles} cycles, --log-level may hide the lines, or the interval was raised. {_OFFER}"
    )

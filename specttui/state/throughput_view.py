"""Throughput as the screen shows it: the figure of now, and why there is none or what stands behind it."""

from __future__ import annotations

from specttui.events import Launch
from specttui.log.meaning.marks import Mark
from specttui.log.meaning.no_figures import explain_no_decode
from specttui.state.decode import DecodeSample
from specttui.state.facts import Facts
from specttui.state.settings_view import requested
from specttui.state.snapshot import GroupRow

#: A decode line older than this no longer says what the server does now.
FRESH_S = 10.0
#: Lines after idle gaps, and none else, that tell of bursts too short to measure.
_SHORT_BURSTS = 3
_PRESSURE = "KV pressure: the pool is full and requests are retracted; not counted for this configuration"
_NO_HEAD = "node {} of {} answers no clients: the figures are in the log of node 0"
_AFTER_IDLE = "first line after an idle gap: it spans the gap and says nothing"


def throughput_now(facts: Facts, now_s: float) -> tuple[float | None, float | None]:
    """Throughput and accept length now; None when the newest line is old or spans idle time.

    Under KV pressure the figure is what the server does, though not what its configuration can do.
    """
    sample = _fresh_sample(facts, now_s)
    if sample is None:
        return None, None
    if sample.mark is Mark.KV_PRESSURE:
        return sample.server_tok_s, sample.accept_len
    since_s = now_s - FRESH_S
    return facts.history["throughput"].newest(since_s), facts.history["accept_len"].newest(since_s)


def throughput_note(facts: Facts, now_s: float) -> str:
    """Why there is no throughput, or what has to be known about it; "" where the figure speaks for itself."""
    if facts.server_phase != "serving":
        return ""
    if facts.log_problem:
        return facts.log_problem
    if facts.server is not None and facts.server.node_rank > 0 and facts.last_decode is None:
        return _NO_HEAD.format(facts.server.node_rank, facts.server.node_count)
    if facts.last_decode is None or facts.decode_offset_s is None:
        return _no_decode(facts)
    sample = _fresh_sample(facts, now_s)
    if sample is None:
        return f"idle: last decode line {now_s - facts.decode_offset_s:.0f} s ago"
    return _short_bursts(facts) or {Mark.KV_PRESSURE: _PRESSURE, Mark.AFTER_IDLE: _AFTER_IDLE}.get(
        sample.mark, ""
    )


def group_rows(facts: Facts, now_s: float, window_s: float) -> tuple[GroupRow, ...]:
    """One row per data-parallel group; none where there is only one."""
    groups = facts.decode.groups
    if len(groups) < 2:
        return ()
    return tuple(
        GroupRow(
            group=key,
            throughput_tok_s=group.line.throughput_tok_s,
            accept_len=group.line.accept_len,
            running=group.line.running,
            queue=group.line.queue,
            series=group.history.recent(now_s, window_s),
        )
        for key, group in sorted(groups.items(), key=lambda item: (len(item[0]), item[0]))
    )


def _fresh_sample(facts: Facts, now_s: float) -> DecodeSample | None:
    if facts.decode_offset_s is None or now_s - facts.decode_offset_s > FRESH_S:
        return None
    return facts.last_sample


def _no_decode(facts: Facts) -> str:
    known = facts.arguments or _asked(facts.launch)
    why = explain_no_decode(facts.http_ok, 0, known, facts.prefilled)
    return why or "No decode lines yet: waiting for traffic."


def _asked(launch: Launch | None) -> dict[str, str]:
    flags = requested(launch) if launch else {}
    return {name.lstrip("-").replace("-", "_"): value for name, value in flags.items()}


def _short_bursts(facts: Facts) -> str:
    run = facts.run
    if run is None or run.current.samples or run.current.mixed:
        return ""
    if run.current.marks[Mark.AFTER_IDLE] < _SHORT_BURSTS:
        return ""
    return (
        f"no steady line yet: answers are shorter than the {facts.decode.interval} cycles of a decode line, "
        "so each line spans idle time. Restart with --decode-log-interval 5, or send longer answers."
    )

"""Builds the snapshot that the screen draws: the only reader of the state's facts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from specttui.analysis.throughput import throughput_tok_s
from specttui.events import Launch, SpecSettings
from specttui.log.meaning.settings import SettingDifference
from specttui.state.cycle_view import WINDOW_S, cycle_view, rank_rows
from specttui.state.facts import Facts
from specttui.state.observer_view import probe_view
from specttui.state.run_rows import RunRows
from specttui.state.settings_view import WORDS, between, in_words
from specttui.state.snapshot import CycleView, ProgressView, Snapshot
from specttui.state.throughput_view import group_rows, throughput_note, throughput_now
from specttui.state.verdict_view import verdict_view

#: Lines of the log in a snapshot.
LOG_LINES = 500

_CHIP_PREFIXES = ("NCCL_", "SGLANG_SIMULATE_ACC", "SIMULATE_ACC", "SGLANG_ENABLE_SPEC_V2")


class SnapshotBuilder:
    """Keeps what is dear to compute between ticks; one per state."""

    def __init__(self) -> None:
        self._run_rows = RunRows()

    def build(self, facts: Facts, now_s: float) -> Snapshot:
        """The state at `now_s` seconds after the session's start.

        Args:
            facts: The state.
            now_s: Now, on the clock of the envelopes' offsets; ages and windows refer to it.
        """
        rows = self._run_rows.rows(facts.runs, now_s, facts.probe.missing)
        cycle = cycle_view(facts, now_s)
        running = facts.run
        settings = running.settings if running else _settings(facts)
        decode = throughput_now(facts, now_s)
        changed = _changed(facts)
        newest = facts.last_sample if facts.server_phase == "serving" else None
        return replace(
            Snapshot(),
            session_id=facts.session.session_id if facts.session else "",
            target=facts.session.target if facts.session else "",
            mode=facts.session.mode if facts.session else "live",
            at=facts.started_at + now_s,
            offset_s=now_s,
            connection=facts.connection,
            connection_detail=facts.connection_detail,
            latency_ms=facts.latency_ms,
            server=facts.server,
            server_phase=facts.server_phase,
            server_detail=facts.server_detail,
            progress=_progress(facts, now_s),
            worker_file=facts.worker_file,
            probe=probe_view(facts),
            settings=settings,
            changed_settings=tuple(WORDS.get(found.name, found.name) for found in changed),
            setting_changes=tuple(map(in_words, changed)),
            chips=tuple(_chips(settings, running.launch if running else _launch(facts))),
            throughput=facts.history["throughput"].recent(now_s, WINDOW_S),
            throughput_now=decode[0],
            throughput_note=throughput_note(facts, now_s),
            accept_len=facts.history["accept_len"].recent(now_s, WINDOW_S),
            accept_len_now=decode[1],
            accept_rate_now=_accept_rate(decode[1], settings),
            accept_histogram=_histogram(facts),
            running=newest.running if newest else None,
            queue=newest.queue if newest else None,
            computed_tok_s=_computed(cycle, decode[1]),
            cycle=cycle,
            verdict=verdict_view(rows, cycle),
            runs=rows,
            ranks=rank_rows(facts),
            groups=group_rows(facts, now_s, WINDOW_S),
            gpus=facts.gpus,
            log_lines=tuple(facts.log)[-LOG_LINES:],
            log_total=facts.log_total,
            alerts=tuple(facts.alerts),
            notes=tuple(facts.notes),
            command=facts.command,
            load=facts.load,
            http_client_errors=facts.http_client_errors,
            http_server_errors=facts.http_server_errors,
        )


def _launch(facts: Facts) -> Launch | None:
    return facts.server.launch if facts.server else None


def _settings(facts: Facts) -> SpecSettings:
    return facts.server.effective if facts.server else SpecSettings()


def _progress(facts: Facts, now_s: float) -> ProgressView | None:
    if facts.server_phase != "starting" or facts.starting_since_s is None:
        return None
    seen = facts.progress
    elapsed_s = now_s - facts.starting_since_s
    silent_s = now_s - facts.last_output_s if facts.last_output_s is not None else None
    if seen is None:
        return ProgressView("starting", "", None, elapsed_s, None, silent_s)
    since_s = now_s - facts.progress_offset_s
    return ProgressView(
        phase=seen.phase,
        detail=seen.detail,
        fraction=seen.fraction,
        elapsed_s=elapsed_s if seen.elapsed_s is None else seen.elapsed_s + since_s,
        eta_s=None if seen.eta_s is None else max(0.0, seen.eta_s - since_s),
        last_output_s=silent_s,
        done=seen.done,
        total=seen.total,
    )


def _changed(facts: Facts) -> tuple[SettingDifference, ...]:
    """What the server changed of the request: by its log, and where that says nothing, by discovery."""
    found = facts.compared.changed
    if facts.server is None:
        return found
    known = {difference.name for difference in found}
    seen = between(facts.server.requested, facts.server.effective)
    return (*found, *(difference for difference in seen if difference.name not in known))


def _chips(settings: SpecSettings, launch: Launch | None) -> Iterator[str]:
    if settings.is_baseline:
        yield "baseline"
    else:
        yield str(settings.algorithm)
        counts = {
            "steps": settings.num_steps,
            "topk": settings.eagle_topk,
            "draft": settings.num_draft_tokens,
        }
        yield from (f"{word} {count}" for word, count in counts.items() if count is not None)
    for name, value in sorted((launch.env if launch else {}).items()):
        if name.startswith(_CHIP_PREFIXES):
            yield f"{name}={value}"


def _accept_rate(accept_len: float | None, settings: SpecSettings) -> float | None:
    """Accepted drafts per verified draft, recomputed: the printed rate's meaning changed (CASES A21)."""
    if accept_len is None or not settings.num_draft_tokens or settings.num_draft_tokens < 2:
        return None
    return (accept_len - 1.0) / (settings.num_draft_tokens - 1)


def _histogram(facts: Facts) -> tuple[int, ...]:
    if not facts.window:
        return ()
    return tuple(facts.window[min(facts.window)].histogram)


def _computed(cycle: CycleView | None, accept_len: float | None) -> float | None:
    """Throughput as the cycle says it: batch x accept length / cycle, to be shown beside the measured one."""
    if (
        cycle is None
        or cycle.clock is None
        or not cycle.mean_cycle_ms
        or not cycle.batch
        or accept_len is None
    ):
        return None
    return throughput_tok_s(cycle.mean_cycle_ms, accept_len, cycle.batch)

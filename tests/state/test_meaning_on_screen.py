"""What sequences of log lines mean, as the snapshot has it."""

from __future__ import annotations

import pytest
from support.envelopes import decode, run_started
from support.folding import Folding

from specttui.events import (
    FileState,
    HttpSeen,
    Launch,
    LogNotice,
    MemoryPressure,
    PrefillStats,
    ServerFound,
    ServerInfo,
    ServerNotFound,
    Severity,
    WorkerFileChecked,
)
from specttui.log.meaning.marks import Mark
from specttui.state.snapshot import Snapshot

SERVER = ServerInfo(pid=1, launch=Launch(argv=("python", "-m", "sglang.launch_server", "--model-path", "m")))
FOUND = ServerFound(server=SERVER)


def line(second: int, tokens: int, tok_s: float, accept_len: float = 2.0, running: int = 1) -> str:
    return (
        f"[2026-11-29 12:00:{second:02d} TP0] Decode batch, #running-req: {running}, #token: {tokens}, "
        f"token usage: 0.10, accept len: {accept_len:.2f}, accept rate: 0.50, cuda graph: True, "
        f"gen throughput (token/s): {tok_s:.2f}, #queue-req: 0"
    )


def steady(count: int, begin: int = 0, running: int = 1) -> list[str]:
    """Lines at 25 ms a cycle: 40 cycles, 80 tokens, one second each."""
    return [line(begin + index, 100 + 80 * (begin + index), 80.0, running=running) for index in range(count)]


def alerts(snapshot: Snapshot) -> list[str]:
    return [alert.message for alert in snapshot.alerts]


def test_a19_the_first_line_after_idle_is_in_no_figure() -> None:
    """CASES A19, facts: steady mean of the next three 177.65."""
    log = Folding(FOUND, run_started(1, "steps 3", steps=3))
    log.take(decode(0.39, 2.17))
    snapshot = log.snapshot()
    assert snapshot.throughput_now is None
    assert snapshot.throughput_note == "first line after an idle gap: it spans the gap and says nothing"
    for tok_s, accept_len in ((178.86, 1.95), (165.41, 1.80), (188.68, 2.05)):
        log.take(decode(tok_s, accept_len))
    snapshot = log.snapshot()
    assert [value for value in snapshot.throughput.values if value is not None] == [178.86, 165.41, 188.68]
    assert (snapshot.throughput_now, snapshot.throughput_note) == (188.68, "")
    assert sum(
        sample.server_tok_s or 0.0 for sample in log.state.runs[0].current.samples
    ) / 3 == pytest.approx(177.65)


def test_a21_the_accept_rate_is_computed_anew() -> None:
    """CASES A21: d = 4, accept length 2.17 is a rate of 0.39, whatever the line says."""
    log = Folding(FOUND, run_started(1, "steps 3", steps=3))
    log.take(decode(170.0, 2.17).model_copy(update={"accept_rate": 0.54}))
    assert log.snapshot().accept_rate_now == pytest.approx(0.39)


def test_a22_kv_pressure_is_marked_and_left_out() -> None:
    log = Folding(FOUND, run_started(1, "steps 2", steps=2))
    for _ in range(6):
        log.take(decode(430.0, 2.0, usage=0.9))
    log.take(MemoryPressure(retracted=1))
    log.take(decode(30.0, 2.0, usage=1.0))
    snapshot = log.snapshot()
    assert (snapshot.throughput_now, snapshot.throughput.values[-1]) == (30.0, None)
    assert snapshot.throughput_note.startswith("KV pressure: the pool is full and requests are retracted")
    assert alerts(snapshot) == ["The KV pool is full: requests are retracted"]
    (row,) = snapshot.runs
    assert row.throughput_tok_s is not None
    assert row.throughput_tok_s.value == 430.0
    assert row.notes == ("1 lines under KV pressure left out",)


def test_a20_missing_lines_are_found_and_said() -> None:
    log = Folding(FOUND, run_started(1, "steps 2", steps=2))
    log.log(*steady(12))
    assert log.snapshot().runs[0].notes == ()
    log.log(*steady(3, begin=15))
    snapshot = log.snapshot()
    (note,) = snapshot.runs[0].notes
    assert note == "at least 3 decode lines are missing from the log: figures are incomplete"
    assert alerts(snapshot) == ["Decode lines are missing from the log"]


def test_tokens_of_a_new_prompt_are_no_missing_lines() -> None:
    log = Folding(FOUND, run_started(1, "steps 2", steps=2))
    log.log(*steady(12))
    prefill = (
        "[2026-11-29 12:00:12 TP0] Prefill batch, #new-seq: 1, #new-token: 400, "
        "#cached-token: 0, token usage: 0.00, #running-req: 0, #queue-req: 0"
    )
    log.log(prefill, line(12, 1300, 80.0))
    assert log.snapshot().runs[0].notes == ()
    assert log.snapshot().alerts == ()


def test_data_parallel_groups_are_summed_and_shown_apart() -> None:
    """CASES A03: five DP ranks, facts; duplicates of TP ranks never add up."""
    log = Folding(FOUND, run_started(1, "steps 2", steps=2), step_s=0.2)
    facts = {
        "DP6": (2.86, 168.28),
        "DP0": (2.90, 171.01),
        "DP5": (2.94, 173.06),
        "DP7": (2.65, 155.8),
        "DP2": (2.58, 152.08),
    }
    for _ in range(2):
        for group, (accept_len, tok_s) in facts.items():
            log.take(decode(tok_s, accept_len, running=8, rank=f"{group} TP0"))
            log.take(decode(tok_s, accept_len, running=8, rank=f"{group} TP1"))
    snapshot = log.snapshot()
    assert snapshot.throughput_now == pytest.approx(820.23)
    assert (snapshot.accept_len_now, snapshot.running) == (pytest.approx(2.786), 40)
    assert [row.group for row in snapshot.groups] == ["DP0", "DP2", "DP5", "DP6", "DP7"]
    shown = {row.group: (row.accept_len, row.throughput_tok_s) for row in snapshot.groups}
    assert shown == facts
    assert [row.series.last for row in snapshot.groups] == [171.01, 152.08, 173.06, 168.28, 155.8]


def test_without_data_parallelism_there_are_no_groups() -> None:
    log = Folding(FOUND, run_started(1, "steps 2", steps=2))
    log.log(*steady(4))
    assert log.snapshot().groups == ()


def test_a_group_after_an_idle_gap_spoils_the_sum_until_its_next_line() -> None:
    log = Folding(FOUND, run_started(1, "steps 2", steps=2), step_s=0.2)
    for _ in range(3):
        log.take(decode(100.0, 2.0, rank="DP0 TP0"))
        log.take(decode(100.0, 2.0, rank="DP1 TP0"))
    log.take(decode(1.0, 2.0, rank="DP1 TP0"))
    log.take(decode(100.0, 2.0, rank="DP0 TP0"))
    assert log.state.last_sample is not None
    assert log.state.last_sample.mark is Mark.AFTER_IDLE
    log.take(decode(100.0, 2.0, rank="DP1 TP0"))
    log.take(decode(100.0, 2.0, rank="DP0 TP0"))
    values = [value for value in log.snapshot().throughput.values if value is not None]
    assert set(values) == {200.0}


def test_a_group_that_fell_silent_is_no_longer_in_the_sum() -> None:
    log = Folding(FOUND, run_started(1, "steps 2", steps=2))
    for _ in range(3):
        log.take(decode(100.0, 2.0, rank="DP0 TP0"))
        log.take(decode(50.0, 2.0, rank="DP1 TP0"))
    assert log.snapshot().throughput_now == 150.0
    for _ in range(8):
        log.take(decode(100.0, 2.0, rank="DP0 TP0"))
    assert log.snapshot().throughput_now == 100.0


def test_changing_requests_still_have_a_throughput() -> None:
    log = Folding(FOUND, run_started(1, "steps 2", steps=2))
    for running in (1, 2, 3, 4, 5, 6, 7):
        log.take(decode(100.0 * running, 2.0, running=running))
    snapshot = log.snapshot()
    assert snapshot.throughput_now == 700.0
    (row,) = snapshot.runs
    assert row.throughput_tok_s is not None
    assert (row.throughput_tok_s.value, row.samples, row.cycle_ms) == (450.0, 6, None)
    assert row.notes == (
        "the number of requests keeps changing: throughput is over all of them, at a mixed load",
    )


def test_bursts_too_short_to_measure_are_explained() -> None:
    log = Folding(FOUND, run_started(1, "steps 2", steps=2), step_s=3.0)
    for second in (0, 15, 30, 45):
        log.log(
            f"[2026-11-29 12:00:{second:02d} TP0] Prefill batch, #new-seq: 1, #new-token: 20, "
            "#cached-token: 0, token usage: 0.00, #running-req: 0, #queue-req: 0",
            line(second + 1, 100, 5.3),
        )
    snapshot = log.snapshot()
    assert snapshot.throughput_now is None
    assert snapshot.throughput_note == (
        "no steady line yet: answers are shorter than the 40 cycles of a decode line, "
        "so each line spans idle time. Restart with --decode-log-interval 5, or send longer answers."
    )


def test_a25_no_decode_lines_are_explained() -> None:
    log = Folding(FOUND, run_started(1, "steps 2", steps=2))
    assert log.snapshot().throughput_note == "No decode lines yet: waiting for traffic."
    for _ in range(25):
        log.take(PrefillStats(new_sequences=1, new_tokens=20, running=0))
    snapshot = log.snapshot()
    assert (snapshot.throughput_now, snapshot.throughput.values) == (None, ())
    assert snapshot.throughput_note.startswith(
        "25 requests were answered without a decode line: the answers may be"
    )
    assert "--decode-log-interval 5" in snapshot.throughput_note


def test_a25_monitors_alone_are_not_taken_for_short_answers() -> None:
    log = Folding(FOUND, run_started(1, "steps 2", steps=2))
    log.take(HttpSeen(ok=40))
    assert log.snapshot().throughput_note.startswith(
        "40 requests were answered, but the log shows neither prefill nor decode lines: either only"
    )


def test_a25_a_quiet_log_level_is_known_from_the_command_line() -> None:
    quiet = Launch(argv=(*SERVER.launch.argv, "--log-level", "warning"))
    log = Folding(ServerFound(server=SERVER.model_copy(update={"launch": quiet})))
    log.take(HttpSeen(ok=40))
    assert log.snapshot().throughput_note == (
        "At --log-level warning the server prints no decode lines. Restart without that flag."
    )


def test_requests_of_the_server_before_explain_nothing() -> None:
    log = Folding(FOUND)
    log.take(HttpSeen(ok=40))
    log.take(run_started(1, "steps 2", steps=2))
    assert log.snapshot().throughput_note == "No decode lines yet: waiting for traffic."


def test_a10_errors_are_counted_and_told() -> None:
    log = Folding(FOUND, HttpSeen(ok=5, client_errors=3, server_errors=2), HttpSeen(server_errors=1))
    snapshot = log.snapshot()
    assert (snapshot.http_client_errors, snapshot.http_server_errors) == (3, 3)
    assert alerts(snapshot) == ["The server answers requests with errors (HTTP 5xx)"]


def test_an_old_line_says_how_old_it_is() -> None:
    log = Folding(FOUND, run_started(1, "steps 2", steps=2))
    log.log(*steady(4))
    snapshot = log.snapshot(later_s=89.0)
    assert (snapshot.throughput_now, snapshot.throughput_note) == (None, "idle: last decode line 90 s ago")


def test_b09_the_cycle_is_known_from_the_log_alone() -> None:
    """CASES B09: 1.95 tokens per cycle at 178.86 tok/s are 10.90 ms a cycle."""
    log = Folding(FOUND, run_started(1, "steps 3", steps=3))
    for _ in range(4):
        log.take(decode(178.86, 1.95))
    cycle = log.snapshot().cycle
    assert cycle is not None
    assert (cycle.clock, cycle.cycles) == (None, 120)
    assert cycle.cycle_ms == pytest.approx(10.90, abs=0.005)
    assert {(row.available, row.reason) for row in cycle.rows} == {(False, "needs the probe")}
    assert log.snapshot().computed_tok_s is None
    (row,) = log.snapshot().runs
    assert (row.cycle_ms, row.source) == (pytest.approx(10.90, abs=0.005), "log")


def test_the_rows_that_wait_for_the_probe_give_way_once_the_file_is_patched() -> None:
    log = Folding(FOUND, run_started(1, "steps 3", steps=3))
    for _ in range(4):
        log.take(decode(178.86, 1.95))
    log.take(WorkerFileChecked(path="/w.py", state=FileState.PATCHED))
    cycle = log.snapshot().cycle
    assert cycle is not None
    assert cycle.rows == ()


def test_a_baseline_has_no_cycle() -> None:
    log = Folding(FOUND, run_started(1, "baseline"))
    for _ in range(4):
        log.take(decode(88.8))
    assert log.snapshot().cycle is None
    assert log.snapshot().runs[0].cycle_ms == pytest.approx(11.26, abs=0.005)


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("custom_log_format", "The log's layout hides the figures"),
        ("suppressed", "The journal dropped lines of the server's log"),
        ("skipped", "A part of the log was skipped"),
        ("replaced", "The log was replaced while the connection was down"),
        ("vanished", "The server's log file was deleted"),
        ("missing", "The server's log file is not there"),
    ],
)
def test_what_happens_to_the_log_is_told_where_it_matters(what: str, message: str) -> None:
    log = Folding(FOUND, run_started(1, "steps 2", steps=2), LogNotice(what=what, detail="so it is"))
    snapshot = log.snapshot()
    assert [(alert.severity, alert.message) for alert in snapshot.alerts] == [(Severity.WARNING, message)]
    assert snapshot.log_lines[-1] == f"-- log {what}: so it is"
    incomplete = ("lines of the log were dropped on the way: figures are incomplete",)
    assert snapshot.runs[0].notes == (incomplete if what in {"suppressed", "skipped", "replaced"} else ())


@pytest.mark.parametrize("what", ["truncated", "rotated", "hole", "reopened", "appeared"])
def test_what_happens_to_the_log_every_day_stands_in_the_log_only(what: str) -> None:
    snapshot = Folding(FOUND, LogNotice(what=what)).snapshot()
    assert (snapshot.alerts, snapshot.log_lines) == ((), (f"-- log {what}",))


def test_a_custom_layout_is_the_reason_for_no_figures() -> None:
    log = Folding(FOUND, run_started(1, "steps 2", steps=2))
    log.log("INFO scheduler - Decode batch, #running-req: 1, #token: 10, gen throughput (token/s): 20.00")
    snapshot = log.snapshot()
    assert snapshot.throughput_note.startswith(
        "Decode lines are in the log, but in a layout that a logging config"
    )
    assert alerts(snapshot) == ["The log's layout hides the figures"]
    log.log(*steady(2))
    assert log.snapshot().throughput_note == ""


def test_a_server_that_somebody_stops_is_told_and_ours_is_not() -> None:
    stopped = "The server was asked to stop: it finishes its requests and ends"
    log = Folding(FOUND)
    log.log("[2026-11-29 12:00:00] SIGTERM received. signum=15, frame=None")
    assert alerts(log.snapshot()) == [stopped]
    ours = Folding(FOUND)
    ours.state.server_phase = "stopping"
    ours.log("[2026-11-29 12:00:00] SIGTERM received. signum=15, frame=None")
    assert ours.snapshot().alerts == ()


def test_nothing_is_said_of_throughput_while_nothing_serves() -> None:
    assert Folding(ServerNotFound(reason="none")).snapshot().throughput_note == ""

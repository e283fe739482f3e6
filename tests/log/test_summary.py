"""A saved log in one value: on each captured log the values that data/README.md states."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from support.logs import capture, sample

from specttui.events import Clock, Phase, ProbeCycles
from specttui.log.summary import LogSummary, ServerFigures, render, summarise, to_dict

#: Run: label, then the README's throughput and ms per cycle of one client, and throughput of eight.
RUNS = {
    "A_base": ("baseline", 204.1, 4.90, 1394.0),
    "A_v1_s2": ("EAGLE3, steps 2, top-k 1, draft tokens 3", 254.2, 8.66, 1806.0),
    "A_v2_s2": ("EAGLE3, steps 2, top-k 1, draft tokens 3", 306.4, 7.19, 2285.0),
    "A_v1_s5": ("EAGLE3, steps 5, top-k 1, draft tokens 6", 344.7, 9.28, 2108.0),
    "A_v2_s5": ("EAGLE3, steps 5, top-k 1, draft tokens 6", 405.9, 7.87, 2726.0),
    "A_v1_s3_k4_d8_tr": ("EAGLE3, steps 3, top-k 4, draft tokens 8", 293.4, 8.92, 1736.0),
}
ACCEPT_LEN = {
    "A_v1_s2": 2.2, "A_v2_s2": 2.2, "A_v1_s5": 3.2, "A_v2_s5": 3.2, "A_v1_s3_k4_d8_tr": 2.6, "B_v1_s3": 2.6,
    "B_v2_s3": 2.6, "D_v2_LL": 2.6, "D_v2_info": 2.6, "D_v2_Simple": 2.6, "D_v2_customar": 2.6,
}  # fmt: skip
#: Two servers with several clocks, and two GPUs: the README's lowest and highest throughput of one client.
RANGES = {
    "B_v1_s3": (267.0, 320.0),
    "B_v2_s3": (309.0, 372.0),
    "D_v2_info": (295.0, 316.0),
    "D_v2_LL": (294.0, 300.0),
    "D_v2_Simple": (307.0, 310.0),
    "D_v2_customar": (280.0, 301.0),
}


def only_server(data: bytes) -> ServerFigures:
    (server,) = summarise([data]).servers
    return server


@pytest.mark.parametrize("name", RUNS)
def test_runs_of_the_whole_captures(name: str) -> None:
    label, tok_s, cycle_ms, tok_s_8 = RUNS[name]
    server = only_server(capture(name))
    (run,) = server.runs
    alone, eight = run.loads
    assert (server.outcome, server.ready, run.label) == ("serving", True, label)
    assert (alone.running, eight.running, run.interval_cycles, run.missing_lines) == (1, 8, 40, 0)
    # The client's figure contains prefill, which the log's mean has too and its median has not.
    assert alone.mean_throughput_tok_s == pytest.approx(tok_s, rel=0.02)
    assert alone.throughput_tok_s == pytest.approx(tok_s, rel=0.045)
    assert alone.cycle_ms == pytest.approx(cycle_ms, rel=0.055)
    # At eight the client also waits for stragglers between rounds: the log reads higher, by up to a fifth.
    assert tok_s_8 * 0.99 <= eight.mean_throughput_tok_s <= tok_s_8 * 1.21


@pytest.mark.parametrize("name", RUNS)
def test_runs_of_the_excerpts(name: str) -> None:
    label, tok_s, cycle_ms, _ = RUNS[name]
    server = only_server(sample(name))
    (run,) = server.runs
    alone, eight = run.loads
    assert (server.outcome, server.ready, run.label) == ("serving", True, label)
    assert (alone.running, eight.running, run.interval_cycles, run.missing_lines) == (1, 8, 40, 0)
    assert alone.throughput_tok_s == pytest.approx(tok_s, rel=0.1)
    assert alone.cycle_ms == pytest.approx(cycle_ms, rel=0.1)


@pytest.mark.parametrize("name", ACCEPT_LEN)
def test_accept_length_is_what_was_set(name: str) -> None:
    (run,) = only_server(capture(name)).runs
    for load in run.loads:
        assert load.accept_len == pytest.approx(ACCEPT_LEN[name], abs=0.03)
    assert run.accept_rate == pytest.approx((ACCEPT_LEN[name] - 1) / ((run.draft_tokens or 0) - 1), abs=0.015)


def test_the_baseline_has_no_accept_length() -> None:
    (run,) = only_server(sample("A_base")).runs
    assert {load.accept_len for load in run.loads} == {None}
    assert (run.steps, run.draft_tokens, run.accept_rate) == (None, None, None)


@pytest.mark.parametrize("name", RANGES)
def test_servers_with_changing_clocks_and_two_gpus(name: str) -> None:
    low, high = RANGES[name]
    server = only_server(capture(name))
    (run,) = server.runs
    assert low * 0.97 <= run.loads[0].throughput_tok_s <= high * 1.035
    assert server.settings["tp_size"] == ("2" if name.startswith("D_") else "1")
    assert server.settings["disable_overlap_schedule"] == str(name == "B_v1_s3")


def test_figures_of_an_excerpt_exactly() -> None:
    server = only_server(sample("A_v1_s3_k4_d8_tr"))
    (run,) = server.runs
    alone, eight = run.loads
    assert (alone.lines, round(alone.throughput_tok_s, 1), round(alone.cycle_ms, 2)) == (33, 293.7, 8.88)
    assert (eight.lines, round(eight.throughput_tok_s, 1), round(eight.cycle_ms, 2)) == (9, 2041.8, 10.14)
    assert (run.decode_lines, run.excluded) == (44, {"after_idle": 2})
    (words,) = server.adjusted
    assert words.endswith("because spec v2 currently only supports topk = 1.")


def test_startup_phases_with_durations() -> None:
    server = only_server(sample("A_v1_s5"))
    phases = [(phase.phase, phase.started_s, phase.duration_s) for phase in server.startup]
    # data/README.md: torch distributed 14 s after server_args, then graphs, draft and extend graphs, ready
    # at 30 s; the log's stamps have whole seconds.
    assert phases == [
        ("init", 0.0, 14.0), ("distributed", 14.0, 1.0), ("weights", 15.0, 0.0), ("kv_cache", 15.0, 0.0),
        ("graphs", 15.0, 3.0), ("draft_weights", 18.0, 0.0), ("kv_cache", 18.0, 2.0),
        ("draft_graphs", 20.0, 5.0), ("extend_graphs", 25.0, 1.0), ("warmup", 26.0, 4.0),
    ]  # fmt: skip
    assert server.startup_s == 30.0
    printed = {phase.phase: phase.printed_s for phase in server.startup}
    assert printed["draft_graphs"] == pytest.approx(4.4, abs=0.5)


@pytest.mark.parametrize(
    ("name", "category", "outcome", "ready"),
    [
        ("F_bad_flag", "bad_flag", "failed", False),
        ("F_bad_value", "bad_value", "failed", False),
        ("F_bad_topk", "missing_arguments", "failed", False),
        ("F_no_draft_path", "bad_model_path", "failed", False),
        ("F_ctx_too_long", "context_too_long", "failed", False),
        ("F_oom_099", "oom_draft", "failed", False),
        ("F_oom_005", "not_enough_memory", "failed", False),
        ("F_port_in_use", "port_in_use", "failed", True),
        ("F_sigkill_scheduler", "subprocess_crashed", "failed", True),
        ("F_scheduler_exception", "scheduler_exception", "failed", False),
        ("F_graph_capture_failed", "graph_capture", "failed", False),
    ],
)
@pytest.mark.parametrize("read", [sample, capture])
def test_failures_and_endings(
    read: Callable[[str], bytes], name: str, category: str, outcome: str, ready: bool
) -> None:
    server = only_server(read(name))
    assert [failure.category for failure in server.failures] == [category]
    assert (server.outcome, server.ready) == (outcome, ready)
    assert server.failures[0].remedy


@pytest.mark.parametrize("read", [sample, capture])
def test_a_server_that_was_stopped_under_pressure(read: Callable[[str], bytes]) -> None:
    server = only_server(read("F_small_v2_sigterm"))
    assert (server.outcome, server.failures, server.retracted_requests) == ("stopped", (), 2)
    assert server.runs[0].excluded["kv_pressure"] == 6


def test_a_port_clash_says_whose_ready_line_it_was() -> None:
    assert any(
        "ready line is not about this server" in note for note in only_server(sample("F_port_in_use")).notes
    )


def test_several_servers_in_one_log() -> None:
    data = sample("F_oom_099") + sample("A_base") + sample("F_bad_flag")
    summary = summarise([data[start : start + 1000] for start in range(0, len(data), 1000)])
    assert [server.outcome for server in summary.servers] == ["failed", "failed"]
    base = summary.servers[1]
    assert (base.started, base.runs[0].label) == ("2026-11-29 13:19:42", "baseline")
    assert base.adjusted == ("Attention backend not specified. Use fa3 backend by default.",)


def test_adaptive_segments_are_runs_of_their_own() -> None:
    row = (
        "[2026-01-01 00:00:0{}] Decode batch, #running-req: 1, #token: {}, accept len: {}, "
        "gen throughput (token/s): {}, #queue-req: 0\n"
    )
    listing = (
        "[2026-01-01 00:00:00] server_args=ServerArgs(model_path='/m', speculative_algorithm='EAGLE', "
        "speculative_num_steps=3, speculative_eagle_topk=1, speculative_num_draft_tokens=4)\n"
    )
    log = listing + "".join(row.format(1, 100 + 120 * i, 3.0, 300 + i) for i in range(5))
    log += "[2026-01-01 00:00:01] Switch adaptive runtime state: steps 3 -> 1, draft_tokens 4 -> 2\n"
    log += "".join(row.format(2, 700 + 60 * i, 1.5, 200 + i) for i in range(5))
    first, second = only_server(log.encode()).runs
    assert (first.steps, first.draft_tokens, second.steps, second.draft_tokens) == (3, 4, 1, 2)
    assert (first.loads[0].throughput_tok_s, second.loads[0].throughput_tok_s) == (302.5, 202.5)
    assert second.label == "adaptive: steps 1, draft tokens 2"


def test_probe_phases_are_in_the_summary() -> None:
    cycles = ProbeCycles(
        clock=Clock.EVENTS, rank="TP0", steps=[2] * 4, batch=[1] * 4, cycle_ms=[None, 20.0, 20.0, 20.0],
        phase_ms={
            Phase.DRAFT: [1.0] * 4, Phase.VERIFY: [18.0] * 4, Phase.DRAFT_EXTEND: [0.5, None, 0.5, 0.5],
            Phase.TARGET_FORWARD: [15.0, None, None, 16.0],
        },
        accepted=[1, 1, 0, None],
    )  # fmt: skip
    log = sample("A_v2_s2") + b"[specttui] " + cycles.model_dump_json().encode() + b"\n"
    (probe,) = only_server(log).runs[0].probe
    assert (probe.rank, probe.clock, probe.cycles, probe.cycle_ms) == ("TP0", "events", 4, 20.0)
    assert probe.accept_len == pytest.approx(1 + 2 / 3)
    shares = {phase.phase: phase.share for phase in probe.phases}
    assert shares["draft"] == pytest.approx(3 / 60)
    assert shares["verify"] == pytest.approx(54 / 60)
    assert shares["draft_extend"] == pytest.approx(1 / 60)
    # A part's share is of the cycles in which it was timed, and lies inside its phase's.
    assert shares.pop("target_forward") == pytest.approx(16 / 20)
    assert sum(share or 0.0 for share in shares.values()) == pytest.approx(1.0)


def test_dp_groups_add_up_and_copies_of_other_ranks_do_not() -> None:
    row = "[00:00:00 {}] Decode batch, #running-req: 2, accept len: 2, gen throughput (token/s): 100\n"
    log = "".join(row.format(rank) for _ in range(5) for rank in ("DP0 TP0", "DP0 TP1", "DP1 TP2", "DP1 TP3"))
    (run,) = only_server(log.encode()).runs
    (load,) = run.loads
    assert (load.running, load.throughput_tok_s, load.accept_len, load.cycle_ms) == (4, 200.0, 2.0, 40.0)
    assert run.excluded["other_rank"] == 10


def test_no_decode_lines_are_explained() -> None:
    access = '[2026-01-01 00:00:00] INFO:     127.0.0.1:1 - "POST /generate HTTP/1.1" 200 OK\n'
    listing = "[2026-01-01 00:00:00] server_args=ServerArgs(model_path='/m', decode_log_interval=400)\n"
    server = only_server((listing + access * 50).encode())
    assert (server.runs, server.http_ok) == ((), 50)
    assert server.notes[0].startswith("A decode line comes every 400 cycles only")


def test_a_foreign_text_is_no_server() -> None:
    summary = summarise([b"hello\nworld\n"])
    assert summary == LogSummary(())
    assert render(summary) == "The log holds no line of an SGLang server that specttui knows.\n"


def test_the_summary_goes_to_json_and_back() -> None:
    summary = summarise([sample("D_v2_LL")])
    restored = json.loads(json.dumps(to_dict(summary), allow_nan=False))
    assert restored["servers"][0]["runs"][0]["loads"][0]["running"] == 1
    assert restored["servers"][0]["settings"]["speculative_num_steps"] == "3"


def test_text_of_a_failure() -> None:
    text = render(summarise([sample("F_bad_flag")]))
    assert text == (
        "SERVER 1: failed\n"
        "  FAILURE (bad_flag): Unknown argument: --speculative-num-stepz 3\n"
        "    | sglang serve: error: unrecognized arguments: --speculative-num-stepz 3\n"
        "    what to do: Did you mean --speculative-num-steps? Remove or correct the\n"
        "    flag; specttui HOST shows the command line before each restart.\n"
    )


def test_text_of_a_run() -> None:
    lines = render(summarise([sample("A_v1_s3_k4_d8_tr")])).splitlines()
    assert lines[0] == "SERVER 1, started 2026-11-29 13:37:02: serving, ready after 31 s"
    assert "          1     33         293.7    294           2.61      8.88" in lines

"""CASES.md part A: every shape of line in public reports, each with its right value."""

from __future__ import annotations

import pytest
from support.logs import of, one, parse, shown

from specttui.events import (
    AdaptiveSwitch,
    ArgumentAdjusted,
    DecodeStats,
    FailureSeen,
    HttpSeen,
    MemoryPressure,
    PrefillStats,
    ProbeInstalled,
    StartupStep,
)
from specttui.log.meaning.accept_rate import accept_rates, implied_draft_tokens
from specttui.log.meaning.cycle import line_cycle_ms
from specttui.log.meaning.interval import log_interval
from specttui.log.meaning.marks import LineMarker, Mark
from specttui.log.meaning.no_figures import explain_no_decode
from specttui.log.meaning.segments import segments
from specttui.log.meaning.settings import (
    algorithm_group,
    concurrency_warning,
    differences,
    effective_settings,
)
from specttui.log.ranks import LoggingRanks, series_key, system_decode
from specttui.log.startup import StartupModel

A19_ROWS = (
    (55, 108, 2.17, 0.54, 0.39),
    (57, 186, 1.95, 0.49, 178.86),
    (57, 258, 1.80, 0.45, 165.41),
    (58, 340, 2.05, 0.51, 188.68),
)
A19 = "".join(
    f"[2025-10-22 10:27:{second} TP0] Decode batch. #running-req: 1, #token: {tokens}, token usage: 0.00, "
    f"accept len: {length}, accept rate: {rate}, cuda graph: True, gen throughput (token/s): {throughput}, "
    "#queue-req: 0, \n"
    for second, tokens, length, rate, throughput in A19_ROWS
)


def decode(line: str) -> DecodeStats:
    return one(DecodeStats, line + "\n")


def test_a01_clock_only_stamp() -> None:
    line = decode(
        "[04:40:55 TP0] Decode batch. #running-req: 2, #token: 4078, token usage: 0.00, "
        "gen throughput (token/s): 431.90, #queue-req: 0"
    )
    assert (line.stamp, line.rank) == ("04:40:55", "TP0")
    assert (line.running, line.tokens, line.token_usage) == (2, 4078, 0.0)
    assert (line.throughput_tok_s, line.queue, line.accept_len) == (431.90, 0, None)


def test_a02_largest_len_and_trailing_comma() -> None:
    line = decode(
        "[2025-03-14 02:16:14 TP0] Decode batch. #running-req: 509, #token: 180776, token usage: 0.43, "
        "gen throughput (token/s): 7801.22, largest-len: 0, #queue-req: 0, "
    )
    assert (line.running, line.token_usage, line.throughput_tok_s) == (509, 0.43, 7801.22)
    assert (line.queue, line.accept_len, line.extra) == (0, None, {"largest-len": "0"})


def dp_line(group: int, accept_len: float, throughput: float) -> str:
    return (
        f"[2025-05-31 18:31:21 DP{group} TP{group}] Decode batch. #running-req: 8, #token: 36267, "
        f"token usage: 0.12, accept len: {accept_len}, cuda graph: True, "
        f"gen throughput (token/s): {throughput}, #queue-req: 0\n"
    )


A03 = ((6, 2.86, 168.28), (0, 2.90, 171.01), (5, 2.94, 173.06), (7, 2.65, 155.80), (2, 2.58, 152.08))


def test_a03_dp_ranks_add_up() -> None:
    lines = of(DecodeStats, "".join(dp_line(*row) for row in A03))
    assert [series_key(line.rank) for line in lines] == ["DP6", "DP0", "DP5", "DP7", "DP2"]
    assert (lines[0].running, lines[0].accept_len, lines[0].throughput_tok_s) == (8, 2.86, 168.28)
    latest = {series_key(line.rank): line for line in lines}
    system = system_decode(latest.values())
    assert system is not None
    assert system.throughput_tok_s == pytest.approx(820.23)
    assert system.accept_len == pytest.approx(2.786)
    assert (system.running, system.groups) == (40, 5)


def test_a03_tp_copies_do_not_add_up() -> None:
    ranks = LoggingRanks()
    assert [ranks.counts(label) for label in ("TP0", "TP1", "TP0", "DP1 TP2", "DP1 TP3")] == [
        True, False, True, True, False,
    ]  # fmt: skip


def test_a04_accept_rate_of_0_5_3() -> None:
    line = decode(
        "[2025-10-22 10:27:57 TP0] Decode batch. #running-req: 1, #token: 186, token usage: 0.00, "
        "accept len: 1.95, accept rate: 0.49, cuda graph: True, gen throughput (token/s): 178.86, "
        "#queue-req: 0, "
    )
    assert (line.running, line.accept_len, line.accept_rate) == (1, 1.95, 0.49)
    assert (line.throughput_tok_s, line.graph, line.queue) == (178.86, True, 0)
    assert line_cycle_ms(line) == pytest.approx(10.90, abs=0.005)


def test_a05_iteration_number() -> None:
    line = decode(
        "[2025-10-30 09:12:01 TP0] Decode batch [4160], #running-req: 8, #token: 9120, token usage: 0.03, "
        "accept len: 2.71, accept rate: 0.68, cuda graph: True, gen throughput (token/s): 1234.50, "
        "#queue-req: 0, "
    )
    assert (line.iteration, line.running, line.accept_len) == (4160, 8, 2.71)
    assert (line.throughput_tok_s, line.rank, line.extra) == (1234.5, "TP0", {})


def test_a06_no_rank() -> None:
    line = decode(
        "[2026-04-05 20:02:51] Decode batch, #running-req: 32, #token: 11179, token usage: 0.08, "
        "cuda graph: True, gen throughput (token/s): 1640.00, #queue-req: 0"
    )
    assert (line.rank, line.running, line.throughput_tok_s, line.accept_len) == ("", 32, 1640.0, None)


def test_a07_disaggregated_decode_node() -> None:
    line = decode(
        "[2026-08-14 14:02:47 TP0] Decode batch, #running-req: 3, #token: 266624, token usage: 0.43, "
        "accept len: 1.67, accept rate: 0.13, pre-allocated usage: 0.22, #prealloc-req: 0, #transfer-req: 1, "
        "#retracted-req: 0, cuda graph: True, gen throughput (token/s): 183.10, #queue-req: 0"
    )
    assert (line.running, line.token_usage, line.queue) == (3, 0.43, 0)
    assert (line.accept_len, line.throughput_tok_s) == (1.67, 183.10)
    assert line.extra == {
        "pre-allocated usage": "0.22", "#prealloc-req": "0", "#transfer-req": "1", "#retracted-req": "0",
    }  # fmt: skip
    assert implied_draft_tokens(1.67, 0.13) == 6


def test_a08_hybrid_pool() -> None:
    line = decode(
        "[2026-08-23 09:05:37 TP0 EP0] Decode batch, #running-req: 1, #full token: 165376, "
        "full token usage: 0.02, #swa token: 768, swa token usage: 0.00, accept len: 5.30, "
        "accept rate: 0.86, cuda graph: True, gen throughput (token/s): 161.80, #queue-req: 0"
    )
    assert (line.rank, line.running, line.tokens, line.token_usage) == ("TP0 EP0", 1, 165376, 0.02)
    assert (line.accept_len, line.accept_rate, line.throughput_tok_s) == (5.30, 0.86, 161.8)
    assert implied_draft_tokens(5.30, 0.86) == 6


def test_a09_prefill_is_not_decode() -> None:
    head = "[2026-08-23 09:05:37 TP0] "
    plain = "Decode batch, #running-req: 1, #token: 9, gen throughput (token/s): {}, #queue-req: 0\n"
    prefill = (
        "Prefill batch, #new-seq: 12, #new-token: 43008, #cached-token: 0, full token usage: 0.14, "
        "mamba usage: 0.20, #running-req: 1, #queue-req: 97, #pending-token: 109585, npu graph: False, "
        "input throughput (token/s): 15734.14\n"
    )
    log = head + plain.format(640) + head + prefill + head + plain.format(655)
    assert [line.throughput_tok_s for line in of(DecodeStats, log)] == [640.0, 655.0]
    event = one(PrefillStats, log)
    assert (event.new_sequences, event.new_tokens, event.cached_tokens) == (12, 43008, 0)
    assert (event.token_usage, event.running, event.queue) == (0.14, 1, 97)
    assert event.input_throughput_tok_s == 15734.14
    assert event.extra["mamba usage"] == "0.20"


def test_a10_access_noise_is_counted_not_shown() -> None:
    access = '[2026-04-05 20:02:51] INFO:     127.0.0.1:40052 - "POST /v1/chat/completions HTTP/1.1" {}\n'
    line = dp_line(0, 2.9, 171.0)
    log = (
        (access.format("200 OK") * 19 + line) * 5
        + access.format("404 Not Found") * 3
        + access.format("503 Service Unavailable")
    )
    assert len(of(DecodeStats, log)) == 5
    http = one(HttpSeen, log)
    assert (http.ok, http.client_errors, http.server_errors) == (95, 3, 1)
    assert [text for text in shown(log.encode()) if "INFO:" in text] == []


A11 = """\
[2026-01-20 02:40:20 DP1 TP0] Load weight begin. avail mem=94.1 GB
[2026-01-20 02:40:21 DP0 TP0] Load weight begin. avail mem=94.1 GB
[2026-01-20 02:40:29 DP1 TP0] Load weight end. type=XForCausalLM, dtype=torch.bfloat16, avail mem=63.5 GB, \
mem usage=30.6 GB.
[2026-01-20 02:40:30 DP1 TP0] KV Cache is allocated. #tokens: 404777, K size: 24.7 GB, V size: 24.7 GB
[2026-01-20 02:40:33 DP0 TP0] Load weight end. type=XForCausalLM, dtype=torch.bfloat16, avail mem=63.5 GB, \
mem usage=30.6 GB.
[2026-01-20 02:40:34 DP0 TP0] KV Cache is allocated. #tokens: 404777, K size: 24.7 GB, V size: 24.7 GB
[2026-01-20 02:40:35 DP0 TP0] Capture cuda graph begin. This can take up to several minutes. avail mem=13.4 GB
[2026-01-20 02:41:16 DP0 TP0] Capture cuda graph end. Time elapsed: 41.2 s. mem usage=2.1 GB.
[2026-01-20 02:41:20] The server is fired up and ready to roll!
"""


def test_a11_milestones_in_order_and_slowest_rank_decides() -> None:
    steps = of(StartupStep, A11)
    assert list(dict.fromkeys(step.phase for step in steps)) == ["weights", "kv_cache", "graphs", "ready"]
    model = StartupModel()
    seen = []
    for at_s, step in enumerate(steps):
        model.apply(step, float(at_s))
        seen.append(model.phase)
    # DP1 has its weights and its pool while DP0 still loads: the server is loading.
    assert seen == [
        "weights", "weights", "weights", "weights", "weights", "kv_cache", "graphs", "graphs", "ready",
    ]  # fmt: skip
    assert [step.elapsed_s for step in steps if step.edge == "end" and step.phase == "graphs"] == [41.2]


def test_a12_bar_glued_to_another_ranks_line() -> None:
    log = (
        "[2026-01-20 02:40:25 DP0 TP0] Capture cuda graph begin. This can take up to several minutes.\n"
        "Capturing batches (bs=232 avail_mem=12.61 GB):   8%|▊         | 3/36 [00:04<00:43,  1.32s/it]"
        "[2026-01-20 02:40:29 DP1 TP1] Load weight end. type=XForCausalLM, mem usage=30.6 GB.\n"
    )
    bar, weights = of(StartupStep, log)[1:]
    assert (bar.phase, bar.done, bar.total, bar.elapsed_s, bar.eta_s) == ("graphs", 3, 36, 4.0, 43.0)
    assert round(100 * (bar.done or 0) / (bar.total or 1)) == 8
    assert (weights.phase, weights.edge, weights.rank) == ("weights", "end", "DP1 TP1")


def test_a13_shards_then_silence_is_no_failure() -> None:
    log = (
        "[2026-01-20 02:40:25] Load weight begin. avail mem=94.1 GB\n"
        "Loading safetensors checkpoint shards:  64% Completed | 105/163 [09:30<04:59,  5.16s/it]\n"
    )
    bar = of(StartupStep, log)[1]
    assert (bar.phase, bar.done, bar.total, bar.elapsed_s, bar.eta_s) == ("weights", 105, 163, 570.0, 299.0)
    done = "Loading safetensors checkpoint shards: 100% Completed | 163/163\n"
    model = StartupModel()
    for step in of(StartupStep, log + done):
        model.apply(step, 600.0)
    view = model.view(600.0 + 25 * 60)
    assert (view.phase, view.done, view.total, view.last_output_s) == ("weights", 163, 163, 1500.0)
    assert (view.ready, view.eta_s) == (False, None)
    assert of(FailureSeen, log + done) == []


A14 = """\
[2026-01-20 02:40:25 TP0] Scheduler hit an exception: Traceback (most recent call last):
  File "/venv/site-packages/sglang/srt/managers/scheduler.py", line 2500, in run_scheduler_process
    scheduler.event_loop_normal()
  File "/venv/site-packages/sglang/srt/speculative/eagle_worker.py", line 321, in verify
    logits = self.target(batch)
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of \
79.10 GiB of which 1.06 GiB is free.

[2026-01-20 02:40:25] Received sigquit from a child process. It usually means the child failed.
Killed
"""


def test_a14_one_event_for_the_scheduler_exception() -> None:
    failure = one(FailureSeen, A14)
    assert (failure.category, failure.rank, failure.fatal) == ("oom", "TP0", True)
    assert failure.details["exception"] == "OutOfMemoryError"
    assert (failure.details["tried"], failure.details["free"]) == ("2.00 GiB", "1.06 GiB")
    assert failure.lines[-1].startswith(
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
    )
    assert failure.in_probe is False


@pytest.mark.parametrize(("inner", "part"), [(False, "outer"), (True, "innermost")])
def test_a14_our_block_in_the_traceback(inner: bool, part: str) -> None:
    frame = '  File "/venv/sglang/srt/speculative/eagle_worker.py", line 900, in _specttui_cycle\n    run()\n'
    place = A14.index("torch.OutOf") if inner else A14.index('  File "/venv/site-packages/sglang/srt/spec')
    failure = one(FailureSeen, A14[:place] + frame + A14[place:])
    assert (failure.in_probe, failure.details["probe_frame"]) == (True, part)
    assert ("restore the worker file" in failure.remedy) is inner


def test_a15_watchdog_of_all_ranks_once() -> None:
    log = "".join(
        f"[2025-03-09 00:57:15 TP{rank}] Watchdog timeout (self.watchdog_timeout=300)\n" for rank in range(8)
    )
    log += "[2025-03-09 00:57:20] Received sigquit from a child proc{}. It usually means x.\nKilled\n".format(
        "es"
    )  # the spelling of 0.4
    failure = one(FailureSeen, log)
    assert (failure.category, failure.fatal) == ("watchdog", True)
    assert (failure.details["hang_s"], failure.details["ranks"]) == ("300", "8")


def test_a15_new_spelling_and_soft() -> None:
    line = "[2026-03-09 00:57:15 TP4] Scheduler watchdog timeout (self.watchdog_timeout=300, self.soft={})\n"
    assert one(FailureSeen, line.format("False")).fatal is True
    assert one(FailureSeen, line.format("True")).fatal is False


def test_a16_collective_timeout() -> None:
    failure = one(
        FailureSeen,
        "[rank5]:[E1206 18:44:12.715298746 ProcessGroupNCCL.cpp:607] [Rank 5] Watchdog caught collective "
        "operation timeout: WorkNCCL(SeqNum=9141, OpType=_ALLGATHER_BASE, NumelIn=19008, NumelOut=152064, "
        "Timeout(ms)=600000) ran for 600020 milliseconds before timing out.\n",
    )
    assert failure.category == "collective_timeout"
    assert failure.title == "The collective _ALLGATHER_BASE (number 9141) did not finish in 600 s"
    assert (failure.details["op"], failure.details["seq"]) == ("_ALLGATHER_BASE", "9141")
    assert (failure.details["timeout_s"], failure.details["rank"]) == ("600", "5")
    assert "last good configuration" in failure.remedy


A17 = """\
speculative_num_draft_tokens is adjusted to speculative_num_steps + 1 when speculative_eagle_topk == 1
[2025-08-10 10:00:00] Max running requests is reset to 48 for speculative decoding.
[2025-08-10 10:00:00] Overlap scheduler is disabled because of using eagle speculative decoding.
[2025-08-10 10:00:00] Mixed chunked prefill is disabled because of using eagle speculative decoding.
"""


def test_a17_effective_values() -> None:
    adjusted = of(ArgumentAdjusted, A17)
    assert len(adjusted) == 4
    asked = {
        "--speculative-num-steps": "3",
        "--speculative-eagle-topk": "1",
        "--speculative-num-draft-tokens": "8",
    }
    found = {entry.name: (entry.requested, entry.effective) for entry in differences(asked, adjusted)}
    assert found == {
        "speculative_num_draft_tokens": ("8", "4"),
        "max_running_requests": (None, "48"),
        "disable_overlap_schedule": (None, "True"),
        "enable_mixed_chunk": (None, "False"),
    }
    warning = concurrency_warning(64, differences(asked, adjusted))
    assert warning is not None
    assert "at most 48 at once" in warning
    assert concurrency_warning(48, differences(asked, adjusted)) is None


def test_a17_topk_with_pages() -> None:
    adjusted = one(
        ArgumentAdjusted,
        "speculative_eagle_topk is adjusted to 1 when page_size > 1 for some attention backends.\n",
    )
    assert adjusted.values == {"speculative_eagle_topk": "1"}


def test_a18_adaptive_switch_splits_the_run() -> None:
    switch = "[2026-05-01 00:00:00] Switch adaptive runtime state: steps 3 -> 1, draft_tokens 4 -> 2\n"
    log = dp_line(0, 2.9, 171.0) * 3 + switch + switch + dp_line(0, 1.7, 190.0) * 2
    parts = segments(parse(log.encode()))
    assert [(part.steps, part.draft_tokens, len(part.lines)) for part in parts] == [(3, 4, 3), (1, 2, 2)]
    assert of(AdaptiveSwitch, switch)[0].steps_before == 3


def test_a19_first_line_after_idle_is_left_out() -> None:
    lines = of(DecodeStats, A19)
    marker = LineMarker()
    marks = [marker.mark(line) for line in lines]
    assert marks == [Mark.AFTER_IDLE, Mark.STEADY, Mark.STEADY, Mark.STEADY]
    steady = [
        line.throughput_tok_s or 0.0 for line, mark in zip(lines, marks, strict=True) if mark is Mark.STEADY
    ]
    assert sum(steady) / 3 == pytest.approx(177.65, abs=0.005)


def test_a19_idle_in_the_middle() -> None:
    lines = of(DecodeStats, A19[A19.index("\n") + 1 :] + A19)
    marker = LineMarker()
    assert [marker.mark(line) for line in lines] == [
        Mark.AFTER_IDLE, Mark.STEADY, Mark.STEADY, Mark.AFTER_IDLE, Mark.STEADY, Mark.STEADY, Mark.STEADY,
    ]  # fmt: skip


def test_a20_interval_from_token_counts() -> None:
    assert log_interval(of(DecodeStats, A19)) == 40


def test_a21_three_meanings() -> None:
    older = accept_rates(2.17, 4)
    assert (round(older.per_draft_token or 0, 2), round(older.of_drafts or 0, 2)) == (0.54, 0.39)
    newer = accept_rates(3.05, 4, steps=3)
    assert (round(newer.per_step or 0, 2), round(newer.of_drafts or 0, 2)) == (0.76, 0.68)


def test_a22_kv_pressure_is_not_the_configurations_fault() -> None:
    line = (
        "[2026-05-20 10:00:00] Decode batch, #running-req: 4, #full token: 99, full token usage: {}, "
        "accept len: 2.50, cuda graph: True, gen throughput (token/s): {}, #queue-req: 0\n"
    )
    full = (
        "[2026-05-20 10:00:01] KV cache pool is full. Retract requests. #retracted_reqs: 1, "
        "#new_tokens_gained: 2048, #new_token_ratio: 0.1 -> 0.9\n"
    )
    log = "".join(line.format("1.00", rate) for rate in (431, 429, 430)) + full
    log += "".join(line.format("1.00", rate) for rate in (38, 20, 25))
    marker = LineMarker()
    marks = []
    for event in parse(log.encode()):
        if isinstance(event, MemoryPressure):
            assert event.retracted == 1
            marker.pressure(event)
        elif isinstance(event, DecodeStats):
            marks.append(marker.mark(event))
    assert marks == [Mark.AFTER_IDLE, Mark.STEADY, Mark.STEADY, *[Mark.KV_PRESSURE] * 3]


def test_a22_a_tested_retraction_is_no_pressure() -> None:
    line = "[2026-05-20 10:00:01] Testing retraction. #retracted_reqs: 1, #new_tokens_gained: 2048\n"
    assert of(MemoryPressure, line) == []


A23_LINE = (
    "[2026-04-27 16:06:28 TP0] Decode batch, #running-req: 2, #token: 4078, token usage: 0.00, "
    "accept len: 2.10, cuda graph: True, gen throughput (token/s): 431.90, #queue-req: 0"
)


@pytest.mark.parametrize(
    "before",
    [
        "sglang-1  | ",
        "a-very-long-service-name-indeed-1 | ",
        "\x1b[36msglang-1  |\x1b[0m ",
        "2026-04-27T16:06:28.123456789Z ",
        "2026-04-27T16:06:28.123456789+02:00 stdout F ",
        "[pod/sglang-0/server] ",
        "Apr 27 16:06:28 gpu-host sglang[4242]: ",
        "Apr  7 16:06:28 gpu-host docker/sglang[4242]: ",
        "(SchedulerActor pid=4242, ip=192.0.2.7) ",
        "(pid=4242) ",
        "3: ",
        "[1,0]<stdout>:",
    ],
)
def test_a23_collectors_prefixes(before: str) -> None:
    assert decode(before + A23_LINE) == decode(A23_LINE)


def test_a24_milliseconds() -> None:
    line = decode(A23_LINE.replace("16:06:28 TP0", "08:00:01.482 DP1 TP2"))
    assert (line.stamp, line.rank) == ("2026-04-27 08:00:01.482", "DP1 TP2")


@pytest.mark.parametrize("rank", ["DP1 TP2 EP0 PP3", "DP1 PP3 TP2 EP0", "DP1 PP3 ATTN_CP1 MOE_DP2 TP2 EP0"])
def test_a24_ranks_in_any_order(rank: str) -> None:
    line = decode(A23_LINE.replace("TP0", rank))
    assert (line.rank, series_key(line.rank)) == (rank, "DP1")


def test_a25_no_decode_lines_are_explained() -> None:
    assert explain_no_decode(5, 0) is None
    assert explain_no_decode(500, 1) is None
    assert explain_no_decode(20, 0, {"log_level": "warning"}) == (
        "At --log-level warning the server prints no decode lines. Restart without that flag."
    )
    raised = explain_no_decode(20, 0, {"log_level": "info", "decode_log_interval": "4000"})
    assert raised is not None
    assert "every 4000 cycles" in raised
    short = explain_no_decode(20, 0, {"decode_log_interval": "40"})
    assert short is not None
    assert "too short to reach 40 cycles" in short
    assert "--decode-log-interval 5" in short


def test_a26_colours_and_bad_bytes() -> None:
    log = b"\x1b[33mnotice\x1b[0m\n\xff\xfe rubbish\n\x1b[32m" + A23_LINE.encode() + b"\x1b[0m\n"
    assert one(DecodeStats, log) == decode(A23_LINE)
    assert shown(log)[:2] == ["notice", "\ufffd\ufffd rubbish"]


def test_a27_the_graphs_word_is_no_fact() -> None:
    line = decode(
        "[2026-01-02 10:00:00] Decode batch, #running-req: 1, #token: 9, token usage: 0.00, cpu graph: True, "
        "gen throughput (token/s): 77.00, #queue-req: 0, "
    )
    assert (line.graph, line.throughput_tok_s, line.extra) == (True, 77.0, {})


def test_a28_names_and_overrides() -> None:
    assert algorithm_group("NEXTN") == algorithm_group("EAGLE") == "EAGLE"
    assert algorithm_group("None") is None
    adjusted = of(
        ArgumentAdjusted,
        "DFLASH only supports speculative_num_steps == 1; overriding speculative_num_steps=5 to 1.\n",
    )
    asked = {"--speculative-algorithm": "DFLASH", "--speculative-num-steps": "5"}
    assert effective_settings(asked, adjusted)["speculative_num_steps"] == "1"
    assert [(entry.name, entry.requested, entry.effective) for entry in differences(asked, adjusted)] == [
        ("speculative_num_steps", "5", "1")
    ]
    renamed = differences({"--speculative-algorithm": "NEXTN"})
    assert renamed == ()


def test_probe_line_behind_a_prefix() -> None:
    line = (
        'sglang-1  | [specttui] {"kind":"probe_installed","worker_class":"EAGLEWorker",'
        '"cycle_method":"forward_batch_generation","clock":"events"}\n'
    )
    assert one(ProbeInstalled, line).worker_class == "EAGLEWorker"

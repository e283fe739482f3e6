"""Failures: one event per failure, told by its cause."""

from __future__ import annotations

import pytest
from support.logs import of, one, sample

from specttui.events import FailureSeen, LogNotice, StartupStep
from specttui.log.parser import LogParser
from specttui.log.remedies import PASSED_REMEDY, PROBE_REMEDY, REMEDIES

#: The captured failures: file, category, title, details that must be right.
CAPTURED = [
    ("F_bad_flag", "bad_flag", "Unknown argument: --speculative-num-stepz 3",
     {"flag": "--speculative-num-stepz", "nearest": "--speculative-num-steps"}),
    ("F_bad_value", "bad_value", "--speculative-num-steps: invalid int value: 'abc'",
     {"flag": "--speculative-num-steps"}),
    ("F_bad_topk", "missing_arguments", "Speculative steps, top-k and draft tokens must be given together",
     {"exception": "TypeError"}),
    ("F_no_draft_path", "bad_model_path", "The model path /tmp/m/nowhere does not exist on the host",
     {"path": "/tmp/m/nowhere", "exception": "OSError"}),
    ("F_ctx_too_long", "context_too_long", "The context length 10000000 is more than the model's 8192",
     {"asked": "10000000", "allowed": "8192"}),
    ("F_oom_099", "oom_draft", "The draft model does not fit into GPU memory",
     {"tried": "96.00 MiB", "gpu": "0", "total": "139.80 GiB", "free": "92.31 MiB",
      "phase": "draft_weights"}),
    ("F_oom_005", "not_enough_memory", "The memory fraction leaves no room for a KV pool",
     {"phase": "kv_cache"}),
    ("F_port_in_use", "port_in_use", "The port 30000 is in use by another process", {"port": "30000"}),
    ("F_sigkill_scheduler", "subprocess_crashed", "The process scheduler_0 died with exit code -9",
     {"exit_code": "-9", "pid": "4786"}),
    ("F_scheduler_exception", "scheduler_exception",
     "The scheduler raised RuntimeError: mat1 and mat2 shapes cannot be multiplied (6x2048 and 3072x1024)",
     {"exception": "RuntimeError", "phase": "warmup"}),
    ("F_graph_capture_failed", "graph_capture", "Capturing CUDA graphs failed",
     {"exception": "Exception", "phase": "graphs"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "category", "title", "details"), CAPTURED)
def test_captured_failures(name: str, category: str, title: str, details: dict[str, str]) -> None:
    failure = one(FailureSeen, sample(name))
    assert (failure.category, failure.title, failure.fatal) == (category, title, True)
    assert details.items() <= failure.details.items()
    assert failure.remedy.endswith(REMEDIES[category])
    assert (failure.in_probe, failure.rank) == (False, "")
    assert failure.lines


def test_the_nearest_flag_is_suggested() -> None:
    assert one(FailureSeen, sample("F_bad_flag")).remedy.startswith("Did you mean --speculative-num-steps? ")


def test_the_ready_line_after_a_port_clash_is_still_an_event() -> None:
    events = LogParser().feed(sample("F_port_in_use"))
    kinds = [event.kind for event in events if isinstance(event, FailureSeen | StartupStep)][-2:]
    assert kinds == ["failure", "startup"]
    assert isinstance(events[-1], StartupStep)
    assert events[-1].phase == "ready"


def test_a_graceful_end_is_no_failure() -> None:
    data = sample("F_small_v2_sigterm")
    assert of(FailureSeen, data) == []
    assert [notice.what for notice in of(LogNotice, data)] == ["draining", "graceful_exit", "graceful_exit"]
    assert of(FailureSeen, data + b"[2026-11-29 13:36:20] SIGQUIT received. signum=None\nKilled\n") == []


def test_an_exception_in_a_request_is_not_fatal() -> None:
    failure = one(FailureSeen, sample("A_v1_s2") + REQUEST_EXCEPTION)
    assert (failure.category, failure.fatal) == ("request_exception", False)
    assert failure.details["exception"] == "AttributeError"


REQUEST_EXCEPTION = b"""\
[2026-11-29 13:20:13] ERROR:    Exception in ASGI application
Traceback (most recent call last):
  File "/tmp/site/sglang/srt/utils/common.py", line 1569, in _get_fastapi_request_path
    return route.path, True
AttributeError: '_IncludedRouter' object has no attribute 'path'
[2026-11-29 13:20:14] another line
"""


def crash(rank: str, error: str, *, where: str = "in forward", stamp: str = "2026-01-01 00:00:00") -> str:
    return (
        f"[{f'{stamp} {rank}'.strip()}] Scheduler hit an exception: Traceback (most recent call last):\n"
        f'  File "/site/sglang/srt/managers/scheduler.py", line 1, {where}\n    call()\n{error}\n\n'
    )


OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB."


def test_all_ranks_of_one_failure_make_one_event() -> None:
    log = (
        "".join(crash(f"TP{rank}", OOM) for rank in range(4))
        + "[2026-01-01 00:00:01] SIGQUIT received. x\nKilled\n"
    )
    assert [(failure.rank, failure.category) for failure in of(FailureSeen, log)] == [("TP0", "oom")]


def test_the_cause_wins_over_what_other_ranks_say_of_it() -> None:
    nccl = crash(
        "TP1",
        "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1, remote process exited",
    )
    late = (
        "[2026-01-01 00:10:00 TP2] Scheduler watchdog timeout (self.watchdog_timeout=300, self.soft=False)\n"
    )
    assert [failure.category for failure in of(FailureSeen, crash("TP0", OOM) + nccl + late)] == ["oom"]


def test_a_cause_found_after_its_echo_is_told_too() -> None:
    log = "[2026-01-01 00:00:00] Received sigquit from a child process.\n" + crash("TP0", OOM)
    assert [failure.category for failure in of(FailureSeen, log)] == ["sigquit", "oom"]


def test_a_second_server_in_the_log_may_fail_anew() -> None:
    start = "[2026-01-01 00:01:00] server_args=ServerArgs(model_path='/m', tp_size=1)\n"
    assert [failure.category for failure in of(FailureSeen, crash("", OOM) + start + crash("", OOM))] == [
        "oom",
        "oom",
    ]


def test_a_crash_loop_without_listing_fails_each_time() -> None:
    log = (
        'Traceback (most recent call last):\n  File "/x.py", line 1, in <module>\n    import y\n'
        "ModuleNotFoundError: No module named 'y'\n"
    )
    failures = of(FailureSeen, log * 3)
    assert [failure.category for failure in failures] == ["import_error"] * 3
    assert failures[0].title == "A module cannot be imported: No module named 'y'"


@pytest.mark.parametrize(
    ("error", "where", "category"),
    [
        (OOM, "in load_model", "oom_weights"),
        (OOM, "in init_memory_pool", "oom_kv"),
        (OOM, "in init_device_graphs", "oom_graphs"),
        ("Exception: Capture cuda graph failed: CUDA out of memory. Tried", "in forward", "oom_graphs"),
        ("RuntimeError: NCCL error: Failed to CUDA calloc 10485760 bytes", "in forward", "oom_nccl"),
        (
            "torch.distributed.DistBackendError: NCCL error in: x.cpp:1, unhandled cuda error",
            "in forward",
            "nccl",
        ),
        (
            "RuntimeError: [../gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.2]:11145",
            "in recv_requests",
            "peer_lost",
        ),
        (
            "RuntimeError: Gloo connectFullMesh failed with [../gloo/transport/tcp/pair.cc:144] no error",
            "in init_torch_distributed",
            "nodes_apart",
        ),
        ("RuntimeError: CUDA error: an illegal memory access was encountered", "in forward", "cuda_error"),
        ("OSError: [Errno 28] No space left on device", "in forward", "disk_full"),
        ("ZeroDivisionError: division by zero", "in forward", "scheduler_exception"),
    ],
)
def test_categories_of_scheduler_exceptions(error: str, where: str, category: str) -> None:
    failure = one(FailureSeen, crash("TP3", error, where=where))
    assert (failure.category, failure.rank) == (category, "TP3")


@pytest.mark.parametrize(
    ("line", "category", "fatal"),
    [
        ("[2026-01-01 00:00:00] Initialization failed. warmup error: Traceback", "warmup_failed", True),
        ("[2026-01-01 00:00:00] Detected errors during sampling! NaN in the logits.", "nan_logits", False),
        ("Health check failed. Server couldn't get a response from detokenizer for last 20 seconds. x",
         "health_check", False),
        ("[2026-01-01 00:00:00] Rank 3 scheduler is dead. Please check if there are relevant logs.",
         "subprocess_crashed", True),
        ("[2026-01-01 00:00:00] rpc_port 30001 is used by a process already", "port_in_use", True),
        ("[2026-01-01 00:00:00] Prefill out of memory. Try to lower your batch size.", "oom", True),
        ("Fatal Python error: Segmentation fault", "segfault", True),
        ("Out of memory: Killed process 4242 (python3) total-vm:1kB", "killed", True),
        ("run.sh: line 3: 12345 Killed                  python3 -m sglang.launch_server", "killed", True),
        ("Killed", "killed", True),
    ],
)  # fmt: skip
def test_single_lines(line: str, category: str, fatal: bool) -> None:
    failure = one(FailureSeen, line + "\n")
    assert (failure.category, failure.fatal) == (category, fatal)


def test_nccl_warnings_come_with_the_exception() -> None:
    warning = 'vm:758:758 [0] misc/param.cc:1 NCCL WARN Unrecognized element token "FOO" when parsing "FOO"'
    error = "torch.distributed.DistBackendError: NCCL error in: x.cpp:1, invalid usage"
    failure = one(FailureSeen, f"{warning}\n" + crash("TP0", error))
    assert (failure.category, failure.lines[0]) == ("nccl", warning)


def test_tracebacks_of_several_processes_do_not_mix() -> None:
    lines = ["Traceback (most recent call last):", '  File "/a.py", line 1, in f', "    x()"]
    errors = ["RuntimeError: NCCL error: a", "torch.OutOfMemoryError: CUDA out of memory."]
    log = "".join(f"[rank{rank}]: {line}\n" for line in lines for rank in (0, 1))
    log += "".join(f"[rank{rank}]: {error}\n" for rank, error in enumerate(errors))
    failures = of(FailureSeen, log)
    assert [(failure.rank, failure.category) for failure in failures] == [("rank0", "nccl"), ("rank1", "oom")]


def test_an_interruption_is_no_failure() -> None:
    log = 'Traceback (most recent call last):\n  File "/x.py", line 1, in f\n    wait()\nKeyboardInterrupt\n'
    assert of(FailureSeen, log) == []


def test_users_texts_in_the_request_log_are_no_failures() -> None:
    log = "[2026-01-01 00:00:00] Receive: obj=GenerateReqInput(text='[Errno 98] address already in use')\n"
    assert of(FailureSeen, log) == []


def test_a_complete_failure_is_told_when_the_log_falls_silent() -> None:
    parser = LogParser()
    assert parser.feed(crash("TP0", OOM).encode()) == []
    assert [event.kind for event in parser.flush()] == ["lines"]
    assert [event.kind for event in parser.flush()] == ["failure"]
    assert parser.finish() == []


def test_an_exception_line_without_its_traceback_is_diagnosed() -> None:
    assert one(FailureSeen, "    self.fc = Linear()\n" + OOM + "\n").category == "oom"


def test_f13_our_block_breaks_the_import() -> None:
    log = (
        'Traceback (most recent call last):\n  File "/site/sglang/eagle_worker.py", line 950, in '
        "_specttui_install\n    import missing\nModuleNotFoundError: No module named 'missing'\n"
    )
    failures = of(FailureSeen, log * 2)
    assert [(failure.category, failure.in_probe) for failure in failures] == [("import_error", True)] * 2
    assert failures[0].remedy.startswith(
        "The exception was raised in specttui's probe: restore the worker file"
    )


def test_c08_a_graph_file_that_costs_memory() -> None:
    failure = one(FailureSeen, crash("TP0", "RuntimeError: NCCL error: Failed to CUDA calloc 10485760 bytes"))
    assert failure.title == "NCCL ran out of GPU memory"
    assert "NCCL_GRAPH_FILE" in failure.remedy


def test_b15_the_draft_loaded_twice() -> None:
    assert "SGLANG_ENABLE_SPEC_V2" in one(FailureSeen, sample("F_oom_099")).remedy


CLIENT_HUNG_UP = """\
[2026-01-20 02:40:20] The server is fired up and ready to roll!
Exception occurred during processing of request from ('127.0.0.1', 48386)
Traceback (most recent call last):
  File "/usr/lib/python3.11/socketserver.py", line 691, in process_request_thread
    self.finish_request(request, client_address)
ConnectionResetError: [Errno 104] Connection reset by peer
[2026-01-20 02:40:25] Subprocess scheduler_0 (pid=7) crashed with exit code -9. Triggering SIGQUIT ...
"""


def test_a_client_that_hangs_up_is_no_dead_scheduler_and_hides_no_later_cause() -> None:
    failures = of(FailureSeen, CLIENT_HUNG_UP)
    assert [(failure.category, failure.fatal) for failure in failures] == [
        ("request_exception", False),
        ("subprocess_crashed", True),
    ]


def test_an_oom_of_a_known_phase_is_named_for_what_did_not_fit() -> None:
    log = (
        "[2026-01-20 02:40:20 TP0] Load weight begin. avail mem=79.10 GB\n"
        "[2026-01-20 02:40:25 TP0] Scheduler hit an exception: Traceback (most recent call last):\n"
        '  File "/venv/sglang/srt/managers/scheduler.py", line 12, in run\n    load()\n'
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
    )
    failure = one(FailureSeen, log)
    assert (failure.category, failure.title) == ("oom_weights", "The model does not fit into GPU memory")


def test_the_title_says_when_our_own_probe_raised() -> None:
    log = (
        "[2026-01-20 02:40:25 TP0] Scheduler hit an exception: Traceback (most recent call last):\n"
        '  File "/venv/sglang/srt/speculative/eagle_worker.py", line 900, in _specttui_cycle\n    run()\n'
        "ValueError: wrong\n"
    )
    failure = one(FailureSeen, log)
    assert failure.title == "specttui's probe raised: The scheduler raised ValueError: wrong"
    assert failure.remedy == PROBE_REMEDY


def test_a_traceback_through_our_hook_keeps_its_title_and_says_how_to_make_sure() -> None:
    log = (
        "[2026-01-20 02:40:25 TP0] Scheduler hit an exception: Traceback (most recent call last):\n"
        '  File "/venv/sglang/srt/speculative/eagle_worker.py", line 900, in _specttui_cycle\n    run()\n'
        '  File "/venv/sglang/srt/layers/x.py", line 9, in run\n    wrong()\n'
        "ValueError: wrong\n"
    )
    failure = one(FailureSeen, log)
    assert failure.title == "The scheduler raised ValueError: wrong"
    assert failure.remedy == f"{REMEDIES['scheduler_exception']} {PASSED_REMEDY}"

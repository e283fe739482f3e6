"""`specttui log FILE [--json]` on each captured log gives the values that shared/data/README.md states."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.logs import CAPTURES, SAMPLES

from specttui.cli import main

#: Label, accept length set, and the README's client figures: tok/s alone, ms per cycle, tok/s of eight.
LOADED = {
    "A_base": ("baseline", None, 204.1, 4.90, 1394.0),
    "A_v1_s2": ("EAGLE3, steps 2, top-k 1, draft tokens 3", 2.2, 254.2, 8.66, 1806.0),
    "A_v2_s2": ("EAGLE3, steps 2, top-k 1, draft tokens 3", 2.2, 306.4, 7.19, 2285.0),
    "A_v1_s5": ("EAGLE3, steps 5, top-k 1, draft tokens 6", 3.2, 344.7, 9.28, 2108.0),
    "A_v2_s5": ("EAGLE3, steps 5, top-k 1, draft tokens 6", 3.2, 405.9, 7.87, 2726.0),
    "A_v1_s3_k4_d8_tr": ("EAGLE3, steps 3, top-k 4, draft tokens 8", 2.6, 293.4, 8.92, 1736.0),
}
#: Servers whose clock was switched, and two GPUs: lowest and highest tok/s of one client; tensor parallel.
RANGES = {
    "B_v1_s3": (267.0, 320.0, "1"), "B_v2_s3": (309.0, 372.0, "1"), "D_v2_info": (295.0, 316.0, "2"),
    "D_v2_LL": (294.0, 300.0, "2"), "D_v2_Simple": (307.0, 310.0, "2"), "D_v2_customar": (280.0, 301.0, "2"),
}  # fmt: skip
#: Category, and words that its title or lines must hold.
FAILED = {
    "F_bad_flag": ("bad_flag", "unrecognized arguments: --speculative-num-stepz 3"),
    "F_bad_value": ("bad_value", "invalid int value: 'abc'"),
    "F_bad_topk": ("missing_arguments", "not supported between instances of 'NoneType' and 'int'"),
    "F_no_draft_path": ("bad_model_path", "Repo id must be in the form"),
    "F_ctx_too_long": ("context_too_long", "User-specified context_length"),
    "F_oom_099": ("oom_draft", "torch.OutOfMemoryError: CUDA out of memory."),
    "F_oom_005": ("not_enough_memory", "Please try to increase --mem-fraction-static."),
    "F_port_in_use": ("port_in_use", "[Errno 98]"),
    "F_sigkill_scheduler": ("subprocess_crashed", "scheduler_0"),
    "F_scheduler_exception": ("scheduler_exception", "Error"),
    "F_graph_capture_failed": ("graph_capture", "Capture cuda graph failed"),
}


def log_json(path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The only server of `specttui log PATH --json`."""
    with pytest.raises(SystemExit) as ended:
        main(["log", str(path), "--json"])
    assert ended.value.code in {None, 0}
    (server,) = json.loads(capsys.readouterr().out)["servers"]
    return dict(server)


def capture(name: str) -> Path:
    path = CAPTURES / f"{name}.log"
    if not path.exists():
        pytest.skip("the whole captures are not beside this clone; tests/log reads sample_logs/ in any case")
    return path


def test_every_captured_log_is_covered() -> None:
    known = {*LOADED, *RANGES, *FAILED, "F_small_v2_sigterm"}
    assert {path.stem for path in SAMPLES.glob("*.log")} <= {*known, "P_v2_probe"}
    assert {path.stem for path in CAPTURES.glob("*.log")} in (known, set())


def test_a_real_servers_probe_lines_are_summed_up(capsys: pytest.CaptureFixture[str]) -> None:
    """sample_logs/P_v2_probe.log: a real SGLang on a real GPU, patched by this probe (docs/gpu.md)."""
    (run,) = log_json(SAMPLES / "P_v2_probe.log", capsys)["runs"]
    (probe,) = run["probe"]
    phases = {phase["phase"]: phase for phase in probe["phases"]}
    assert probe["clock"] == "events"
    assert probe["cycle_ms"] == pytest.approx(6.96, abs=0.01)
    assert phases["verify"]["median_ms"] == pytest.approx(5.21, abs=0.01)
    assert phases["target_forward"]["median_ms"] == pytest.approx(4.98, abs=0.01)
    assert phases["draft_extend"]["median_ms"] == pytest.approx(0.36, abs=0.01)
    assert probe["accept_len"] == pytest.approx(2.6, abs=0.1)


@pytest.mark.may_skip
@pytest.mark.parametrize("name", LOADED)
def test_throughput_acceptance_and_cycle(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    label, accept_len, tok_s, cycle_ms, tok_s_8 = LOADED[name]
    server = log_json(capture(name), capsys)
    (run,) = server["runs"]
    alone, eight = run["loads"]
    assert (server["outcome"], server["ready"], run["label"]) == ("serving", True, label)
    assert (alone["running"], eight["running"], run["interval_cycles"], run["missing_lines"]) == (1, 8, 40, 0)
    assert alone["mean_throughput_tok_s"] == pytest.approx(tok_s, rel=0.02)
    assert alone["cycle_ms"] == pytest.approx(cycle_ms, rel=0.055)
    assert alone["accept_len"] == (None if accept_len is None else pytest.approx(accept_len, abs=0.03))
    assert tok_s_8 * 0.99 <= eight["mean_throughput_tok_s"] <= tok_s_8 * 1.21
    assert 20.0 <= server["startup_s"] <= 34.0
    assert sum(phase["duration_s"] for phase in server["startup"]) == server["startup_s"]


@pytest.mark.may_skip
@pytest.mark.parametrize("name", RANGES)
def test_switched_clocks_and_two_gpus(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    low, high, tensor_parallel = RANGES[name]
    server = log_json(capture(name), capsys)
    (run,) = server["runs"]
    assert low * 0.97 <= run["loads"][0]["throughput_tok_s"] <= high * 1.035
    assert run["loads"][0]["accept_len"] == pytest.approx(2.6, abs=0.03)
    assert server["settings"]["tp_size"] == tensor_parallel
    assert server["settings"]["speculative_num_steps"] == "3"


@pytest.mark.may_skip
@pytest.mark.parametrize("name", FAILED)
def test_failures_with_cause_and_remedy(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    category, words = FAILED[name]
    server = log_json(capture(name), capsys)
    (failure,) = server["failures"]
    assert (server["outcome"], failure["category"], failure["in_probe"]) == ("failed", category, False)
    assert words in "\n".join([failure["title"], *failure["lines"]])
    assert failure["remedy"]


@pytest.mark.may_skip
def test_a_stop_under_memory_pressure_is_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    server = log_json(capture("F_small_v2_sigterm"), capsys)
    assert (server["outcome"], server["failures"], server["retracted_requests"]) == ("stopped", [], 2)


def test_the_program_itself_prints_text_and_reads_standard_input() -> None:
    with (SAMPLES / "A_v1_s3_k4_d8_tr.log").open("rb") as log:
        done = subprocess.run(
            [sys.executable, "-m", "specttui.cli", "log", "-"],
            stdin=log,
            capture_output=True,
            check=True,
            timeout=60,
        )
    lines = done.stdout.decode().splitlines()
    assert lines[0] == "SERVER 1, started 2026-11-29 13:37:02: serving, ready after 31 s"
    assert "          1     33         293.7    294           2.61      8.88" in lines


def test_a_file_that_is_not_there_is_an_error_with_a_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["log", str(tmp_path / "none.log")])
    assert ended.value.code == 1
    assert capsys.readouterr().err == (
        f"specttui: {tmp_path / 'none.log'} cannot be read\nNo such file or directory\n"
        "What to do: Check the path.\n"
    )

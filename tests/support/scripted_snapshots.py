"""Snapshots of the mission's afternoon, fixed to the last digit: for screen tests and pictures."""

from __future__ import annotations

import math
from dataclasses import replace

from specttui.events import (
    Clock,
    FileState,
    Gpu,
    Launch,
    Phase,
    ServerInfo,
    SpecSettings,
    Worker,
    WorkerFileChecked,
)
from specttui.state.snapshot import (
    CommandView,
    CycleView,
    Interval,
    PhaseRow,
    ProbeView,
    ProgressView,
    RankRow,
    RunRow,
    Series,
    Snapshot,
    VerdictView,
)

NOW_S = 600.0
WORKER_PATH = "/opt/sglang/python/sglang/srt/speculative/eagle_worker.py"

SPEC_ARGV = (
    "python", "-m", "sglang.launch_server", "--model-path", "/models/Kimi-K2.5", "--tp", "8",
    "--speculative-algorithm", "EAGLE3", "--speculative-draft-model-path", "/models/kimi-k2.5-eagle3",
    "--speculative-num-steps", "2", "--speculative-eagle-topk", "1", "--speculative-num-draft-tokens", "3",
    "--port", "30000",
)  # fmt: skip
LAUNCH = Launch(
    argv=SPEC_ARGV, env={"NCCL_PROTO": "LL"}, cwd="/root", user="root", log_path="/root/sglang.log"
)
STEPS_2 = SpecSettings(algorithm="EAGLE3", num_steps=2, eagle_topk=1, num_draft_tokens=3, overlap=False)
STEPS_5 = SpecSettings(algorithm="EAGLE3", num_steps=5, eagle_topk=1, num_draft_tokens=6, overlap=False)
BASELINE = SpecSettings()


def wave(level: float, swing: float, count: int = 60, window_s: float = 60.0) -> Series:
    """A series around a level, one sample a second, ending now."""
    offsets = tuple(NOW_S - window_s + window_s / count * (index + 1) for index in range(count))
    values = tuple(round(level + swing * math.sin(index * 0.7), 4) for index in range(count))
    return Series(offsets, values, window_s)


def gpus() -> tuple[Gpu, ...]:
    return tuple(
        Gpu(
            index=index,
            name="NVIDIA H200",
            memory_total_mib=143771,
            memory_used_mib=131072 + 256 * index,
            utilisation_percent=96.0 + index % 4,
            power_w=410.0 + 5 * index,
            temperature_c=54.0 + index % 3,
        )
        for index in range(8)
    )


def server() -> ServerInfo:
    return ServerInfo(
        pid=4242,
        launch=LAUNCH,
        requested=STEPS_2,
        effective=STEPS_2,
        model_path="/models/Kimi-K2.5",
        tensor_parallel=8,
        sglang_version="0.5.12",
        sglang_path="/opt/sglang/python/sglang",
        interpreter="/opt/venv/bin/python",
        worker=Worker(
            family="eagle", class_name="EAGLEWorker", path=WORKER_PATH, state=FileState.PATCHED, writable=True
        ),
        gpus=gpus(),
    )


def cycle() -> CycleView:
    def row(
        phase: Phase, share: float, median: float, p95: float, cpu: float, part: Phase | None = None
    ) -> PhaseRow:
        return PhaseRow(phase, share, median, p95, cpu, part, wave(median, median * 0.06))

    rows = (
        row(Phase.VERIFY, 0.967, 18.84, 19.92, 6.41),
        row(Phase.TARGET_FORWARD, 0.951, 18.53, 19.61, 6.02, Phase.VERIFY),
        row(Phase.ACCEPT, 0.016, 0.31, 0.4, 0.22, Phase.VERIFY),
        row(Phase.DRAFT, 0.018, 0.35, 0.38, 0.31),
        row(Phase.DRAFT_EXTEND, 0.015, 0.29, 0.31, 0.27),
        PhaseRow(Phase.OTHER, 0.0, 0.0, 0.02, None, None, wave(0.01, 0.005)),
    )
    return CycleView(Clock.EVENTS, 512, 19.48, 19.5, rows, batch=1.0)


def runs() -> tuple[RunRow, ...]:
    def run(number: int, label: str, settings: SpecSettings, tok_s: float, **more: object) -> RunRow:
        given = {
            "per_request_tok_s": tok_s, "batch": 1.0, "samples": 120, "source": "probe",
            "clock": Clock.EVENTS,
            "started_s": 140.0 * (number - 1), "ended_s": 140.0 * number,
        }  # fmt: skip
        return RunRow(
            number, label, settings, number == 4, number == 1,
            throughput_tok_s=Interval(tok_s, tok_s - 0.35, tok_s + 0.35), **{**given, **more},
        )  # fmt: skip

    def phases(verify: float, draft: float) -> dict[Phase, float]:
        return {Phase.VERIFY: verify, Phase.DRAFT: draft, Phase.DRAFT_EXTEND: 0.29, Phase.OTHER: 0.01}

    return (
        run(1, "baseline", BASELINE, 88.8, cycle_ms=11.26, source="log", clock=None),
        run(2, "steps 5", STEPS_5, 71.0, accept_len=2.12, cycle_ms=29.86, phase_ms=phases(28.7, 0.87),
            cycles=4012, change_vs_baseline=-0.2, significant=True),
        run(3, "steps 2", STEPS_2, 70.7, accept_len=1.83, cycle_ms=25.92, phase_ms=phases(25.28, 0.35),
            cycles=4630, change_vs_baseline=-0.204, significant=True),
        run(4, "steps 2, LL", STEPS_2, 94.1, accept_len=1.83, cycle_ms=19.48, phase_ms=phases(18.84, 0.35),
            cycles=6120, change_vs_baseline=0.06, significant=True, ended_s=None,
            changes=("NCCL_PROTO=LL set",), launch=LAUNCH),
    )  # fmt: skip


LOG_LINES = tuple(
    f"[2026-02-11 14:0{index // 60}:{index % 60:02d} TP0] Decode batch, #running-req: 1,"
    f" #token: {1200 + 40 * index}, token usage: 0.01, accept len: 1.83, accept rate: 0.42, cuda graph: True,"
    f" gen throughput (token/s): {94.05 + 0.1 * (index % 5):.2f}, #queue-req: 0"
    for index in range(80)
)


def serving() -> Snapshot:
    """Patched, measured, four runs: the afternoon's end."""
    return Snapshot(
        session_id="20260211-140000-demo",
        target="root@gpu-host",
        mode="live",
        at=1770818400.0,
        offset_s=NOW_S,
        connection="up",
        latency_ms=1.2,
        server=server(),
        server_phase="serving",
        worker_file=WorkerFileChecked(
            path=WORKER_PATH, state=FileState.PATCHED, backup_path=WORKER_PATH + ".orig"
        ),
        probe=ProbeView("live", Clock.EVENTS, "file", "EAGLEWorker", self_us=14.0),
        settings=STEPS_2,
        chips=("EAGLE3", "steps 2", "topk 1", "draft 3", "NCCL_PROTO=LL"),
        throughput=wave(94.1, 2.4),
        throughput_now=94.1,
        accept_len=wave(1.83, 0.12),
        accept_len_now=1.83,
        accept_rate_now=0.42,
        accept_histogram=(2815, 1530, 1775),
        running=1,
        queue=0,
        computed_tok_s=93.9,
        cycle=cycle(),
        verdict=VerdictView(
            "pays",
            "Accept length 1.83 is above break-even 1.73. Verify is 97 % of the cycle.",
            break_even_accept_len=1.73,
            speed_up=1.06,
            headroom=0.1,
            limiting_phase=Phase.VERIFY,
            caveats=("Holds for the load it was measured at: 1 request at a time, live traffic.",),
        ),
        runs=runs(),
        ranks=tuple(
            RankRow(f"TP{rank}", 19.48 + 0.04 * rank, {Phase.VERIFY: 18.84 + 0.04 * rank})
            for rank in range(8)
        ),
        gpus=gpus(),
        log_lines=LOG_LINES,
        log_total=len(LOG_LINES),
    )


def connected() -> Snapshot:
    """Just connected: a server with its original worker file and no traffic."""
    full = serving()
    return replace(
        full,
        worker_file=None,
        server=full.server.model_copy(
            update={"worker": full.server.worker.model_copy(update={"state": FileState.ORIGINAL})}
        ),
        probe=ProbeView("absent"),
        throughput=Series(), throughput_now=None, accept_len=Series(), accept_len_now=None,
        accept_rate_now=None,
        accept_histogram=(), running=None, queue=None, computed_tok_s=None, cycle=None,
        verdict=VerdictView("unknown", "No figures yet."), runs=(), ranks=(), log_lines=(), log_total=0,
    )  # fmt: skip


def empty() -> Snapshot:
    """Nothing known yet."""
    return Snapshot(target="root@gpu-host", connection_detail="trying 10.1.230.174 port 22")


def starting() -> Snapshot:
    """A restart under way: weights load."""
    return replace(
        serving(),
        server_phase="starting",
        progress=ProgressView("weights", "61 of 163 shards", 0.43, 41.0, 55.0, 2.0),
        throughput=Series(), throughput_now=None, accept_len=Series(), accept_len_now=None,
        computed_tok_s=None,
        running=None, queue=None, cycle=None, accept_rate_now=None, accept_histogram=(),
        command=CommandView("restart", "steps 2, LL", "running"),
    )  # fmt: skip


def disconnected() -> Snapshot:
    """The connection is lost and tried again."""
    return replace(
        serving(),
        connection="retrying",
        connection_detail="connection reset by peer; attempt 3 in 4 s",
        server_phase="unknown",
        cycle=None,
    )


def failed() -> Snapshot:
    """A start that failed for lack of memory."""
    return replace(
        starting(),
        server_phase="failed",
        server_detail="torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB.",
        progress=None,
        command=CommandView("restart", "steps 10", "failed", "The server did not come up."),
    )

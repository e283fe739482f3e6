"""A small whole session, written by hand: the story of the mission, with hostile text in places."""

from __future__ import annotations

from specttui import events as ev
from specttui.report import ReportInput, collect
from specttui.state.snapshot import Interval, ProbeView, RunRow, Snapshot, VerdictView

#: 2026-11-29 14:22:33 UTC.
STARTED_AT = 1795962153.0
ORIGINAL = "a" * 64
PATCHED = "b" * 64
WORKER = "/opt/sglang/speculative/eagle_worker.py"
HOSTILE_NOTE = "try `NCCL_PROTO=LL` | <script>alert(1)</script>\n# not a heading \x1b[31mred\x1b[0m"


def launch(steps: int | None, **env: str) -> ev.Launch:
    """The server's launch with so many steps, None for the baseline."""
    argv = ["python3", "-m", "sglang.launch_server", "--model-path", "/models/target", "--tp-size", "8"]
    if steps is not None:
        argv += ["--speculative-algorithm", "EAGLE3", "--speculative-draft-model-path", "/models/draft"]
        argv += ["--speculative-num-steps", str(steps), "--speculative-eagle-topk", "1"]
        argv += ["--speculative-num-draft-tokens", str(steps + 1)]
    return ev.Launch(argv=tuple(argv), env=env, cwd="/root", user="root", log_path="/var/log/sglang.log")


def settings(steps: int | None) -> ev.SpecSettings:
    """The speculative settings of `launch(steps)`."""
    if steps is None:
        return ev.SpecSettings()
    return ev.SpecSettings(
        algorithm="EAGLE3",
        num_steps=steps,
        eagle_topk=1,
        num_draft_tokens=steps + 1,
        draft_model_path="/models/draft",
        overlap=False,
    )


SERVER = ev.ServerInfo(
    pid=4242,
    launch=launch(5),
    requested=settings(5),
    effective=settings(5),
    model_path="/models/target",
    tensor_parallel=8,
    interpreter="/opt/venv/bin/python3",
    sglang_version="0.5.12",
    sglang_path="/opt/sglang",
    worker=ev.Worker(
        family="eagle", class_name="EAGLEWorker", path=WORKER, state=ev.FileState.ORIGINAL, sha256=ORIGINAL
    ),
    log=ev.LogSource(kind=ev.LogKind.FILE, path="/var/log/sglang.log"),
    gpus=tuple(ev.Gpu(index=index, name="NVIDIA X", memory_total_mib=98304) for index in range(8)),
)

RUNS = (
    RunRow(
        run_id=1, label="baseline", settings=settings(None), current=False, is_baseline=True,
        throughput_tok_s=Interval(88.8, 88.4, 89.2), per_request_tok_s=88.8, cycle_ms=11.26, source="log",
        batch=1.0, samples=120, started_s=60.0, ended_s=180.0,
        changes=("baseline: speculative flags removed",), launch=launch(None),
    ),
    RunRow(
        run_id=2, label="steps 5", settings=settings(5), current=False, is_baseline=False,
        throughput_tok_s=Interval(71.0, 70.7, 71.3), per_request_tok_s=71.0, accept_len=2.12, cycle_ms=29.86,
        source="probe",
        phase_ms={
            ev.Phase.DRAFT: 0.87, ev.Phase.VERIFY: 28.70, ev.Phase.TARGET_FORWARD: 28.31,
            ev.Phase.ACCEPT: 0.39, ev.Phase.DRAFT_EXTEND: 0.29,
        },
        phase_share={
            ev.Phase.DRAFT: 0.0291, ev.Phase.VERIFY: 0.9611, ev.Phase.TARGET_FORWARD: 0.948,
            ev.Phase.ACCEPT: 0.0131, ev.Phase.DRAFT_EXTEND: 0.0097, ev.Phase.OTHER: 0.0001,
        },
        batch=1.0, samples=118, cycles=4000, change_vs_baseline=-0.2005, significant=True, started_s=200.0,
        ended_s=330.0, clock=ev.Clock.EVENTS, changes=("speculation: EAGLE3, steps 5",), launch=launch(5),
    ),
    RunRow(
        run_id=3, label="steps 2", settings=settings(2), current=False, is_baseline=False,
        throughput_tok_s=Interval(70.7, 70.4, 71.0), per_request_tok_s=70.7, accept_len=1.83, cycle_ms=25.92,
        source="probe", phase_ms={ev.Phase.DRAFT: 0.35, ev.Phase.VERIFY: 25.28, ev.Phase.DRAFT_EXTEND: 0.29},
        phase_share={ev.Phase.DRAFT: 0.0135, ev.Phase.VERIFY: 0.9753, ev.Phase.DRAFT_EXTEND: 0.0112},
        batch=1.0, samples=90, cycles=3000, change_vs_baseline=-0.2038, significant=True, started_s=350.0,
        ended_s=460.0, clock=ev.Clock.EVENTS, changes=("steps 5 -> 2", "draft tokens 6 -> 3"),
        launch=launch(2), notes=("12 log lines over idle time left out",),
    ),
    RunRow(
        run_id=4, label="steps 2, LL", settings=settings(2), current=True, is_baseline=False,
        throughput_tok_s=Interval(94.1, 93.8, 94.4), per_request_tok_s=94.1, accept_len=1.83, cycle_ms=19.47,
        source="probe", phase_ms={ev.Phase.DRAFT: 0.35, ev.Phase.VERIFY: 18.83, ev.Phase.DRAFT_EXTEND: 0.29},
        phase_share={
            ev.Phase.DRAFT: 0.018, ev.Phase.VERIFY: 0.967, ev.Phase.DRAFT_EXTEND: 0.015, ev.Phase.OTHER: 0.0,
        },
        batch=1.0, samples=95, cycles=3500, change_vs_baseline=0.0597, significant=True, started_s=480.0,
        clock=ev.Clock.EVENTS, changes=("NCCL_PROTO LL",), launch=launch(2, NCCL_PROTO="LL"),
    ),
)  # fmt: skip

SNAPSHOT = Snapshot(
    session_id="20261129-142233-gpu-host",
    target="gpu-host",
    server=SERVER,
    gpus=SERVER.gpus,
    probe=ProbeView(status="live", clock=ev.Clock.EVENTS, way="file", self_us=48.6),
    verdict=VerdictView(
        "pays",
        "Speculation pays: accept length 1.83 against break-even 1.73. Verify is 97 % of the cycle.",
        break_even_accept_len=1.729,
        speed_up=1.0597,
        headroom=0.101,
        limiting_phase=ev.Phase.VERIFY,
        caveats=("Measured at batch size 1 only.",),
    ),
    runs=RUNS,
)


def envelopes() -> list[ev.Envelope]:
    """The session's events."""
    return [
        ev.Envelope(at=STARTED_AT + offset_s, offset_s=offset_s, host="gpu-host", event=event)
        for offset_s, event in _events()
    ]


def report() -> ReportInput:
    """The session's facts."""
    return collect(envelopes(), SNAPSHOT)


def _run_started(run: RunRow) -> ev.RunStarted:
    assert run.launch is not None
    return ev.RunStarted(
        run_id=run.run_id, label=run.label, launch=run.launch, settings=run.settings, changes=run.changes
    )


def _checked(state: ev.FileState, sha256: str) -> ev.WorkerFileChecked:
    return ev.WorkerFileChecked(
        path=WORKER,
        state=state,
        sha256=sha256,
        original_sha256=ORIGINAL,
        backup_path=f"{WORKER}.specttui-backup",
        local_backup_path="backups/eagle_worker.py",
    )


def _cycles(time_s: float, count: int) -> ev.ProbeCycles:
    return ev.ProbeCycles(
        pid=4300,
        rank="TP0",
        clock=ev.Clock.EVENTS,
        time_s=time_s,
        steps=[2] * count,
        batch=[1] * count,
        cycle_ms=[None, *[19.5] * (count - 1)],
        phase_ms={
            ev.Phase.DRAFT: [0.35] * count,
            ev.Phase.VERIFY: [18.8] * count,
            ev.Phase.TARGET_FORWARD: [18.5] * count,
            ev.Phase.ACCEPT: [0.3] * count,
            ev.Phase.DRAFT_EXTEND: [0.29] * count,
        },
        accepted=[1, None, 2][:count],
    )


def _events() -> list[tuple[float, ev.AnyEvent]]:
    return [
        (0.0, ev.SessionStarted(session_id=SNAPSHOT.session_id, target="gpu-host", specttui_version="0.1.0")),
        (0.4, ev.ConnectionUp(user="root", address="gpu-host", latency_ms=1.2)),
        (1.5, ev.ServerFound(server=SERVER)),
        (10.0, ev.CommandStarted(command_id=1, name="patch", detail=f"append the probe to {WORKER}")),
        (10.8, _checked(ev.FileState.PATCHED, PATCHED)),
        (11.0, ev.CommandFinished(command_id=1, name="patch", detail="6 phases will be seen")),
        (12.0, ev.CommandStarted(command_id=2, name="restart", detail="baseline")),
        (14.0, ev.ServerStopping(step="terminate")),
        (16.0, ev.ServerStopping(step="stopped")),
        (16.5, ev.ServerStarting(pid=5000, launch=launch(None), label="baseline")),
        (20.0, ev.ServerProgress(phase="weights", done=1, total=64)),
        (40.0, ev.ServerProgress(phase="weights", done=64, total=64)),
        (42.0, ev.ServerProgress(phase="graphs")),
        (60.0, ev.ServerReady(pid=5000, elapsed_s=43.5)),
        (60.0, _run_started(RUNS[0])),
        (60.5, ev.CommandFinished(command_id=2, name="restart")),
        (70.0, ev.LoadStarted(load_id=1, concurrency=1, requests=16, max_new_tokens=512)),
        (
            165.0,
            ev.LoadFinished(
                load_id=1, concurrency=1, done=15, failed=1, elapsed_s=94.9, client_tok_s=80.9,
                median_ttft_ms=84.2, median_tpot_ms=11.31, error="1 of 16 requests failed: HTTP 500: a | b",
            ),
        ),
        (180.0, ev.RunEnded(run_id=1, reason="restart")),
        (181.0, ev.CommandStarted(command_id=3, name="restart", detail="--speculative-num-steps 5")),
        (182.0, ev.ServerStarting(pid=5100, launch=launch(5), label="steps 5")),
        (
            190.0,
            ev.ServerFailed(
                diagnosis=ev.Diagnosis(category="oom", title="Out of GPU memory", remedy="Lower it.")
            ),
        ),
        (
            190.1,
            ev.CommandFailed(
                command_id=3, name="restart", title="The server did not start",
                cause="torch.OutOfMemoryError: `tried` to allocate 2 GiB | rank 3",
                remedy="Start it again (R).",
            ),
        ),
        (200.0, _run_started(RUNS[1])),
        (201.0, ev.Alert(severity=ev.Severity.WARNING, message="KV pool full", remedy="Lower the load.")),
        (202.0, ev.MemoryPressure(retracted=1)),
        (203.0, ev.MemoryPressure(retracted=2)),
        (204.0, ev.Alert(severity=ev.Severity.WARNING, message="KV pool full", remedy="Lower the load.")),
        (300.0, ev.NoteAdded(text=HOSTILE_NOTE)),
        (350.0, _run_started(RUNS[2])),
        (400.0, ev.ConnectionDown(reason="keepalive timed out")),
        (405.0, ev.ConnectionUp(reconnected=True)),
        (480.0, _run_started(RUNS[3])),
        (
            481.0,
            ev.ServerArguments(
                arguments={"speculative_num_steps": "2", "tp_size": "8", "random_seed": "17"}
            ),
        ),
        (481.5, ev.ArgumentAdjusted(text="max_running_requests set to 48 for speculative decoding")),
        (
            482.0,
            ev.ProbeInstalled(
                rank="TP0", worker_class="EAGLEWorker", cycle_method="forward_batch_generation",
                clock=ev.Clock.EVENTS, missing={"accept": "not a call of its own"},
            ),
        ),
        (500.0, _cycles(1700000000.0, 2)),
        (500.5, _cycles(1700000000.5, 3)),
        (600.0, ev.CommandStarted(command_id=4, name="restore", detail=WORKER)),
        (600.6, _checked(ev.FileState.ORIGINAL, ORIGINAL)),
        (600.7, ev.CommandFinished(command_id=4, name="restore", detail="the original is back")),
        (610.0, ev.SessionEnded(reason="quit")),
    ]  # fmt: skip

"""A whole session on two hosts, named in the other order than their ranks: gpu-a, named last, is the head."""

from __future__ import annotations

from specttui import events as ev
from specttui.report import ReportInput, collect
from specttui.state.build import SnapshotBuilder
from specttui.state.node_states import NodeStates
from specttui.state.node_view import snapshot_of

STARTED_AT = 1795962153.0
SESSION = "gpu-b gpu-a"
HEAD, WORKER = "gpu-a", "gpu-b"
ORIGINAL, PATCHED = "a" * 64, "b" * 64
PATH = "/opt/sglang/speculative/eagle_worker.py"
GPUS = tuple(ev.Gpu(index=index, name="NVIDIA X", memory_total_mib=98304) for index in range(8))

Event = tuple[str, ev.AnyEvent]


def launch(rank: int, steps: int = 5) -> ev.Launch:
    """A node's own launch."""
    argv = ["python3", "-m", "sglang.launch_server", "--model-path", "/models/target", "--tp-size", "16"]
    argv += ["--speculative-algorithm", "EAGLE3", "--speculative-num-steps", str(steps)]
    argv += ["--nnodes", "2", "--node-rank", str(rank), "--dist-init-addr", "gpu-a:5000"]
    return ev.Launch(argv=tuple(argv))


def settings(steps: int) -> ev.SpecSettings:
    return ev.SpecSettings(
        algorithm="EAGLE3", num_steps=steps, eagle_topk=1, num_draft_tokens=steps + 1, overlap=False
    )


def server(rank: int) -> ev.ServerInfo:
    """A node's server as found there."""
    return ev.ServerInfo(
        pid=4000 + rank,
        launch=launch(rank),
        requested=settings(5),
        effective=settings(5),
        model_path="/models/target",
        tensor_parallel=16,
        node_rank=rank,
        node_count=2,
        worker=ev.Worker(
            family="eagle", class_name="EAGLEWorker", path=PATH, state=ev.FileState.ORIGINAL, sha256=ORIGINAL
        ),
        gpus=GPUS,
    )


def file(state: ev.FileState, host: str) -> ev.WorkerFileChecked:
    """A worker file as it is after a change."""
    sha256 = PATCHED if state is ev.FileState.PATCHED else ORIGINAL
    return ev.WorkerFileChecked(
        path=PATH, state=state, sha256=sha256, original_sha256=ORIGINAL,
        backup_path=f"{PATH}.specttui-backup", local_backup_path=f"backups/{host}/eagle_worker.py",
    )  # fmt: skip


def cycles(rank: str, cycle_ms: float, time_s: float) -> ev.ProbeCycles:
    """A probe line of two cycles."""
    return ev.ProbeCycles(
        pid=4300, rank=rank, clock=ev.Clock.EVENTS, time_s=time_s, steps=[2, 2], batch=[1, 1],
        cycle_ms=[cycle_ms, cycle_ms], phase_ms={ev.Phase.VERIFY: [cycle_ms - 1, cycle_ms - 1]},
        accepted=[1, 1],
    )  # fmt: skip


def found() -> list[Event]:
    """Both hosts are reached and their servers found; only then are the ranks known."""
    started = ev.SessionStarted(
        session_id="s", target=SESSION, specttui_version="0.1.0", nodes=(WORKER, HEAD)
    )
    return [
        (SESSION, started),
        (SESSION, ev.CommandStarted(command_id=1, name="connect", detail=f"connect to {SESSION}")),
        (WORKER, ev.ConnectionUp(user="root", address=WORKER)),
        (HEAD, ev.ConnectionUp(user="root", address=HEAD)),
        (SESSION, ev.CommandFinished(command_id=1, name="connect")),
        (HEAD, ev.ServerFound(server=server(0))),
        (HEAD, ev.RunStarted(run_id=1, label="steps 5", launch=launch(0), settings=settings(5))),
        (HEAD, ev.ServerArguments(arguments={"tp_size": "16", "node_rank": "0"})),
        (WORKER, ev.ServerFound(server=server(1))),
        (WORKER, ev.ServerArguments(arguments={"tp_size": "16", "node_rank": "1"})),
        (WORKER, ev.ArgumentAdjusted(text="told by the worker node")),
        (SESSION, ev.NodesArranged(nodes=(HEAD, WORKER))),
    ]


def restarted() -> list[Event]:
    """Patched on both, and started anew: each node tells of its own start."""
    begun = [
        event
        for rank, host in enumerate((HEAD, WORKER))
        for event in (
            (host, ev.ServerStopping(step="stopped")),
            (host, ev.ServerStarting(pid=5000 + rank, launch=launch(rank, 2), label="steps 2")),
            (host, ev.ServerProgress(phase="weights", done=1, total=64)),
        )
    ]
    installed = ev.ProbeInstalled(
        rank="TP0", worker_class="EAGLEWorker", cycle_method="forward", clock=ev.Clock.EVENTS,
        missing={"accept": "not a call of its own"},
    )  # fmt: skip
    return [
        (SESSION, ev.CommandStarted(command_id=2, name="patch", detail="append the probe")),
        (HEAD, file(ev.FileState.PATCHED, HEAD)),
        (WORKER, file(ev.FileState.PATCHED, WORKER)),
        (SESSION, ev.CommandFinished(command_id=2, name="patch")),
        (HEAD, ev.RunEnded(run_id=1, reason="restart")),
        *begun,
        (HEAD, ev.ServerReady(pid=5000, elapsed_s=43.5)),
        (WORKER, ev.ServerReady(pid=5001)),
        (HEAD, ev.RunStarted(run_id=2, label="steps 2", launch=launch(0, 2), settings=settings(2))),
        (HEAD, installed),
        (WORKER, installed.model_copy(update={"rank": "TP8"})),
        (HEAD, cycles("TP0", 19.5, 1700000000.0)),
        (WORKER, cycles("TP8", 19.9, 1800000000.0)),
        (HEAD, ev.LoadStarted(load_id=1, concurrency=1, requests=2, max_new_tokens=64)),
        (HEAD, ev.LoadFinished(load_id=1, concurrency=1, done=2, failed=0, elapsed_s=4.0)),
        (SESSION, ev.NoteAdded(text="both nodes busy")),
    ]


def troubled() -> list[Event]:
    """The worker node drops out and comes back, fails in the next start, and is restored first."""
    oom = ev.Diagnosis(category="oom", title="Out of GPU memory", remedy="Lower it.")
    cancelled = ev.ServerExited(pid=5100, expected=True, detail="the start was cancelled")
    return [
        (WORKER, ev.ConnectionDown(reason="keepalive timed out")),
        (WORKER, ev.ConnectionUp(reconnected=True)),
        (HEAD, ev.ConnectionDown(reason="reset")),
        (HEAD, ev.ConnectionUp(reconnected=True)),
        (WORKER, ev.ConnectionDown(reason="keepalive timed out")),
        (WORKER, ev.ConnectionUp(reconnected=True)),
        (WORKER, ev.Alert(severity=ev.Severity.WARNING, message="disk full", remedy="Make room.")),
        (HEAD, ev.Alert(severity=ev.Severity.WARNING, message="disk full", remedy="Make room.")),
        (WORKER, ev.Alert(severity=ev.Severity.WARNING, message="disk full", remedy="Make room.")),
        (HEAD, ev.RunEnded(run_id=2, reason="restart")),
        (HEAD, ev.ServerStarting(pid=5100, launch=launch(0, 9), label="steps 9")),
        (WORKER, ev.ServerStarting(pid=5101, launch=launch(1, 9), label="steps 9")),
        (WORKER, ev.FailureSeen(category="oom", title="Out of GPU memory")),
        (WORKER, ev.ServerFailed(diagnosis=oom)),
        (HEAD, cancelled),
        (HEAD, ev.ServerFailed(diagnosis=oom.model_copy(update={"title": f"{WORKER}: {oom.title}"}))),
        (WORKER, file(ev.FileState.ORIGINAL, WORKER)),
        (HEAD, file(ev.FileState.ORIGINAL, HEAD)),
        (SESSION, ev.SessionEnded(reason="closed")),
    ]


def envelopes(*parts: list[Event]) -> list[ev.Envelope]:
    """Events of these parts, one a second; the whole session by default."""
    events = [event for part in parts or (found(), restarted(), troubled()) for event in part]
    return [
        ev.Envelope(at=STARTED_AT + offset_s, offset_s=float(offset_s), host=host, event=event)
        for offset_s, (host, event) in enumerate(events)
    ]


def report(*parts: list[Event]) -> ReportInput:
    """The facts of these parts, with the snapshot that the state makes of them."""
    told = envelopes(*parts)
    states = NodeStates()
    for envelope in told:
        states.apply(envelope)
    return collect(told, snapshot_of(SnapshotBuilder(), states, states.offset_s))

"""Folds what concerns the server and its worker file."""

from __future__ import annotations

from specttui import events as ev
from specttui.state.facts import Facts, Handler
from specttui.state.snapshot import ProbeView


def _server_found(facts: Facts, event: ev.ServerFound) -> None:
    facts.server = event.server
    facts.launch = event.server.launch
    facts.compare_settings()
    facts.being_ended = False
    facts.server_phase = "serving"
    facts.server_detail = ""
    facts.progress = None
    if event.server.gpus:
        facts.gpus = event.server.gpus


def _server_not_found(facts: Facts, event: ev.ServerNotFound) -> None:
    facts.server_phase = "none"
    facts.server_detail = event.reason


def _server_stopping(facts: Facts, event: ev.ServerStopping) -> None:
    facts.server_phase = "exited" if event.step == "stopped" else "stopping"
    facts.being_ended = True
    facts.server_detail = f"{event.step} {event.detail}".strip()


def _server_starting(facts: Facts, event: ev.ServerStarting) -> None:
    facts.server_phase = "starting"
    facts.being_ended = False
    facts.server_detail = event.label
    facts.starting_since_s = facts.last_output_s = facts.offset_s
    facts.failure = None
    facts.launch = event.launch
    facts.arguments, facts.adjusted = {}, []
    facts.listed_server_is_up = False
    facts.log_problem = ""
    facts.progress = None
    facts.compare_settings()
    facts.forget_figures()
    facts.probe = _expected_probe(facts)


def _expected_probe(facts: Facts) -> ProbeView:
    patched = facts.worker_file is not None and facts.worker_file.state is ev.FileState.PATCHED
    return ProbeView(status="waiting" if patched else "absent")


def _server_progress(facts: Facts, event: ev.ServerProgress) -> None:
    facts.progress = event
    facts.progress_offset_s = facts.offset_s


def _server_ready(facts: Facts, event: ev.ServerReady) -> None:
    del event
    facts.server_phase = "serving"
    facts.server_detail = ""
    facts.progress = None


def _server_exited(facts: Facts, event: ev.ServerExited) -> None:
    if facts.server_phase != "failed":  # the reason says more than that the process is gone
        facts.server_phase, facts.server_detail = "exited", event.detail
    facts.progress = None


def _server_failed(facts: Facts, event: ev.ServerFailed) -> None:
    facts.server_phase = "failed"
    facts.failure = event.diagnosis
    facts.server_detail = event.diagnosis.title
    facts.progress = None


def _worker_file(facts: Facts, event: ev.WorkerFileChecked) -> None:
    facts.worker_file = event


def _gpus_sampled(facts: Facts, event: ev.GpuSampled) -> None:
    facts.gpus = event.gpus
    facts.history["gpu_memory"].add(facts.offset_s, sum(gpu.memory_used_mib for gpu in event.gpus) / 1024)
    power = [gpu.power_w for gpu in event.gpus if gpu.power_w is not None]
    if power:
        facts.history["gpu_power"].add(facts.offset_s, sum(power))


HANDLERS: dict[type[ev.Event], Handler] = {
    ev.ServerFound: _server_found,
    ev.ServerNotFound: _server_not_found,
    ev.ServerStopping: _server_stopping,
    ev.ServerStarting: _server_starting,
    ev.ServerProgress: _server_progress,
    ev.ServerReady: _server_ready,
    ev.ServerExited: _server_exited,
    ev.ServerFailed: _server_failed,
    ev.WorkerFileChecked: _worker_file,
    ev.GpuSampled: _gpus_sampled,
}

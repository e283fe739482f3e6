"""A check of a host as text for a reader and as data for a script. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from specttui.events import ServerInfo, Worker
from specttui.host.found import FoundServer
from specttui.launch import changed_settings, command_lines, env_lines, summary
from specttui.probe.describe import describe, to_dict
from specttui.session.checking import Checked


def check_json(checked: Checked) -> dict[str, Any]:
    """A check as JSON-ready data, secrets left out."""
    servers = [
        {
            "server": server.info.model_dump(mode="json"),
            "serving": server.serving,
            "worker_choice": server.choice.why,
            "probe": to_dict(inspection) if inspection else None,
        }
        for server, inspection in zip(checked.discovery.servers, checked.inspections, strict=True)
    ]
    leftovers = [asdict(left) for left in checked.leftovers]
    problems = [{"text": each.text, "remedy": each.remedy} for each in checked.discovery.problems]
    return {"host": checked.host, "servers": servers, "leftovers": leftovers, "problems": problems}


def check_text(checked: Checked) -> str:
    """A check for a reader."""
    lines = [f"{checked.host}: {len(checked.discovery.servers)} SGLang server(s)"]
    for server, inspection in zip(checked.discovery.servers, checked.inspections, strict=True):
        lines += ["", *_server_lines(server)]
        if inspection is not None:
            lines += ["", "What patch would hook:", describe(inspection)]
    lines += ["", *_leftover_lines(checked)] if checked.leftovers else []
    for problem in checked.discovery.problems:
        lines += ["", f"! {problem.text}", *([f"  {problem.remedy}"] if problem.remedy else [])]
    return "\n".join(lines)


def _leftover_lines(checked: Checked) -> Iterator[str]:
    yield "Left by other sessions, or still in use:"
    for left in checked.leftovers:
        whose = f"session {left.session_id or 'unknown'}{f' of {left.owner}' if left.owner else ''}"
        yield f"  {left.what:<14} {left.path}  {whose}{', which lives' if left.alive else ''}"
    yield f"  What to do: open a session, which asks about it, or: specttui restore {checked.host}"


def _server_lines(server: FoundServer) -> Iterator[str]:
    info = server.info
    state = "serving" if server.serving else "not answering yet"
    yield f"Server, process {info.pid}, port {info.port}, {state}"
    yield f"  model        {info.model_path}"
    yield f"  SGLang       {info.sglang_version or 'unknown'}  {info.sglang_path}"
    yield f"  interpreter  {info.interpreter}"
    if info.node_count > 1:
        yield f"  node         {info.node_rank} of {info.node_count}"
    yield f"  parallel     TP {info.tensor_parallel}, DP {info.data_parallel}, PP {info.pipeline_parallel}"
    yield f"  speculation  {summary(info.effective)}"
    yield from (f"  changed      {text}" for text in changed_settings(info.requested, info.effective))
    yield f"  worker       {_worker(info.worker)}"
    yield f"  log          {info.log.kind.value} {info.log.path}".rstrip()
    yield f"  managed by   {info.manager.kind.value} {info.manager.name}".rstrip()
    yield f"  GPUs         {_gpus(info)}"
    yield "  command"
    yield from (f"    {line}" for line in (*env_lines(info.launch), *command_lines(info.launch)))


def _worker(worker: Worker) -> str:
    if not worker.path:
        return "none: the server decodes without speculation"
    return f"{worker.class_name} in {worker.path} ({worker.state.value})"


def _gpus(info: ServerInfo) -> str:
    if not info.gpus:
        return "none seen (no nvidia-smi)"
    names = {gpu.name for gpu in info.gpus}
    return f"{len(info.gpus)} x {', '.join(sorted(names))}"

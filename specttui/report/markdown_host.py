"""The report's parts about the host: environment, settings, starts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from specttui.events import Gpu, Launch, ServerInfo, SpecSettings, Worker
from specttui.launch import command_lines, env_lines
from specttui.report.blocks import bullets, section, table
from specttui.report.escape import code_cell, escape, fence
from specttui.report.facts import ReportInput, StartUpFact
from specttui.report.figures import UNKNOWN, elapsed, number

#: Resolved arguments that bear on speculation or on speed; the JSON report has all of them.
_TOLD = (
    "model_path", "served_model_name", "dtype", "quantization", "kv_cache_dtype", "tp_size", "dp_size",
    "pp_size", "ep_size", "attention_backend", "sampling_backend", "mem_fraction_static",
    "max_running_requests", "cuda_graph_max_bs", "cuda_graph_bs", "disable_cuda_graph",
    "disable_overlap_schedule", "disable_custom_all_reduce", "chunked_prefill_size", "enable_dp_attention",
    "enable_nccl_nvls", "enable_symm_mem", "enable_mscclpp", "stream_interval",
)  # fmt: skip
_SPECULATIVE = "speculative_"


def environment(report: ReportInput) -> str:
    """Host, server, GPUs and probe as a table."""
    rows = [("hosts" if report.nodes else "host", host_names(report))]
    if report.server is not None:
        rows += _server_rows(report.server, len(report.nodes))
    rows += _probe_rows(report)
    gpus = report.snapshot.gpus or (report.server.gpus if report.server else ())
    if gpus:
        rows.append(("GPUs", gpu_text(gpus)))
    if report.connection_losses:
        rows.append(("connection losses", f"{_losses(report)}; figures may have gaps"))
    return table(("", ""), [(key, value) for key, value in rows if value])


def settings(report: ReportInput) -> str:
    """The command found, the last one, and what the server made of it."""
    told = {
        name: value
        for name, value in report.arguments.items()
        if name in _TOLD or name.startswith(_SPECULATIVE)
    }
    blocks = [_launch_block("As found", report.found_launch)]
    if report.last_launch != report.found_launch:
        blocks.append(_launch_block("As left", report.last_launch))
    if told:
        rows = [(code_cell(name), code_cell(value)) for name, value in told.items()]
        blocks.append(
            section("As the server resolved them (last start)", table(("setting", "value"), rows), level=3)
        )
    if report.adjustments:
        adjusted = bullets(escape(text) for text in report.adjustments)
        blocks.append(section("What the server changed by itself (last start)", adjusted, level=3))
    return "\n\n".join(block for block in blocks if block)


def start_ups(report: ReportInput) -> str:
    """Every start of the server and how long its steps took."""
    if not report.start_ups:
        return ""
    header = ("began", "configuration", "outcome", "seconds", "steps, seconds each")
    return table(header, [_start_row(start) for start in report.start_ups], numbers=("seconds",))


def host_names(report: ReportInput) -> str:
    """The host, or all of them by rank, escaped; "" while none is known."""
    return ", ".join(escape(node.name) for node in report.nodes) or escape(report.target)


def gpu_text(gpus: tuple[Gpu, ...]) -> str:
    """GPUs of one kind counted together: 8 x NVIDIA H200, 141 GiB."""
    kinds = Counter((gpu.name or "GPU", round(gpu.memory_total_mib / 1024)) for gpu in gpus)
    return ", ".join(f"{count} x {escape(name)}, {gib} GiB" for (name, gib), count in kinds.items())


def _losses(report: ReportInput) -> str:
    """How often connections broke, and of several hosts on which of them."""
    nodes = report.nodes
    lost = [f"{escape(node.name)} {node.connection_losses}" for node in nodes if node.connection_losses]
    return f"{report.connection_losses}" + (f" ({', '.join(lost)})" if lost else "")


def _server_rows(server: ServerInfo, hosts: int) -> list[tuple[str, str]]:
    sglang = " ".join(part for part in (escape(server.sglang_version), code_cell(server.sglang_path)) if part)
    manager = " ".join(part for part in (server.manager.kind.value, escape(server.manager.name)) if part)
    return [
        ("model", code_cell(server.model_path)),
        ("SGLang", sglang),
        ("interpreter", code_cell(server.interpreter)),
        ("parallelism", _parallelism(server, hosts)),
        ("speculation, as asked for", settings_text(server.requested)),
        ("speculation, in effect", settings_text(server.effective)),
        (
            "draft model",
            code_cell(server.effective.draft_model_path or server.requested.draft_model_path or ""),
        ),
        ("worker", _worker_text(server.worker)),
        ("managed by", manager),
        ("log", " ".join(part for part in (server.log.kind.value, code_cell(server.log.path)) if part)),
        ("address", code_cell(f"{server.host}:{server.port}")),
    ]


def settings_text(settings: SpecSettings) -> str:
    """Speculative settings in a few words."""
    if settings.is_baseline:
        return "none"
    parts = [
        escape(settings.algorithm or ""),
        f"steps {settings.num_steps}" if settings.num_steps is not None else "",
        f"top-k {settings.eagle_topk}" if settings.eagle_topk is not None else "",
        f"draft tokens {settings.num_draft_tokens}" if settings.num_draft_tokens is not None else "",
        {True: "overlapped", False: "synchronous", None: ""}[settings.overlap],
    ]
    return ", ".join(part for part in parts if part)


def _parallelism(server: ServerInfo, hosts: int) -> str:
    text = f"TP {server.tensor_parallel}, DP {server.data_parallel}, PP {server.pipeline_parallel}"
    return f"{text} on {hosts} hosts" if hosts else text


def _worker_text(worker: Worker) -> str:
    if not worker.class_name and not worker.path:
        return ""
    return (
        f"{code_cell(worker.class_name) or 'class unknown'} in {code_cell(worker.path) or 'an unknown file'}"
    )


def _probe_rows(report: ReportInput) -> Iterator[tuple[str, str]]:
    probe = report.snapshot.probe
    if not report.clocks and probe.status == "absent":
        return
    clocks = ", ".join(clock.value for clock in report.clocks) or "none, no cycle was seen"
    way = {"file": "appended to the worker file", "import_hook": "import hook, no file changed"}.get(
        report.probe_way
    )
    yield "probe", f"clock {clocks}" + (f"; {way}" if way else "")
    if report.phases_missing:
        missing = (f"{escape(name)} ({escape(reason)})" for name, reason in report.phases_missing.items())
        yield "not seen by the probe", ", ".join(missing)
    if probe.self_us is not None:
        rests = f", in {number(100 * probe.timed_share, 0)} % of the cycles" if probe.timed_share < 1 else ""
        yield "probe's own CPU time", f"{number(probe.self_us, 0)} us per cycle{rests}"
    if probe.cost is not None:
        low, high = number(100 * probe.cost.low, 1), number(100 * probe.cost.high, 1)
        yield "probe's cost", f"{number(100 * probe.cost.value, 1)} % of the cycle (95 %: {low} to {high})"
    if probe.cross_check:
        yield "cross-check", escape(probe.cross_check)
    if probe.dropped_cycles or probe.dropped_lines:
        yield "probe records dropped", f"{probe.dropped_cycles} cycles, {probe.dropped_lines} lines"


def _launch_block(title: str, launch: Launch | None) -> str:
    if launch is None:
        return ""
    *lines, last = [*env_lines(launch), *command_lines(launch)]
    return section(title, fence([*(f"{line} \\" for line in lines), last], "sh"), level=3)


def _start_row(start: StartUpFact) -> tuple[str, ...]:
    outcome = f"{start.outcome}: {escape(start.reason)}" if start.reason else start.outcome
    phases = ", ".join(f"{escape(name)} {seconds:.1f}" for name, seconds in start.phases)
    return (
        elapsed(start.moment.offset_s),
        escape(start.label),
        outcome,
        number(start.seconds, 1),
        phases or UNKNOWN,
    )

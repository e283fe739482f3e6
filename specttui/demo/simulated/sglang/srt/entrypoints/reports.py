"""What the reporting endpoints say."""

from __future__ import annotations

import time
from typing import Any

from ... import __version__
from ..managers.scheduler_client import SchedulerClient
from ..server_args import ServerArgs, read_model_config

_CONTEXT = 262144
_STARTED = int(time.time())


def models(server_args: ServerArgs) -> dict[str, Any]:
    """/v1/models."""
    name = server_args.served_model_name
    model = {
        "id": name,
        "object": "model",
        "created": _STARTED,
        "owned_by": "sglang",
        "root": name,
        "parent": None,
        "max_model_len": server_args.context_length or _CONTEXT,
    }
    return {"object": "list", "data": [model]}


def model_info(server_args: ServerArgs) -> dict[str, Any]:
    """/model_info."""
    config = read_model_config(server_args.model_path)
    return {
        "model_path": server_args.model_path,
        "tokenizer_path": server_args.tokenizer_path,
        "is_generation": True,
        "preferred_sampling_params": None,
        "weight_version": "default",
        "has_image_understanding": False,
        "has_audio_understanding": False,
        "model_type": config.get("model_type"),
        "architectures": config.get("architectures"),
    }


def server_info(server_args: ServerArgs, client: SchedulerClient, max_tokens: int) -> dict[str, Any]:
    """/server_info: all arguments, and one internal state per DP rank."""
    stats = client.stats
    internal = {
        **server_args.as_dict(),
        "last_gen_throughput": stats.last_gen_throughput,
        "memory_usage": {"weight": 66.9, "kvcache": 12.1, "token_capacity": max_tokens, "graph": 0.4},
        "effective_max_running_requests_per_dp": server_args.max_running_requests,
    }
    if stats.avg_spec_accept_length is not None:
        internal["avg_spec_accept_length"] = stats.avg_spec_accept_length
    return {
        **server_args.as_dict(),
        "status": "ready",
        "max_total_num_tokens": max_tokens,
        "max_req_input_len": (server_args.context_length or _CONTEXT) - 6,
        "internal_states": [internal],
        "version": __version__,
    }


def metrics_text(server_args: ServerArgs, client: SchedulerClient) -> str:
    """/metrics: the gauges that a profiler may want, as of the last decode line."""
    stats = client.stats
    labels = (
        f'engine_type="unified",model_name="{server_args.served_model_name}",'
        'moe_ep_rank="0",pp_rank="0",tp_rank="0"'
    )
    gauges = [
        ("num_running_reqs", "The number of running requests.", stats.running),
        ("num_queue_reqs", "The number of requests in the waiting queue.", stats.queued),
        ("gen_throughput", "The generation throughput (token/s).", stats.last_gen_throughput),
        ("token_usage", "The token usage.", stats.token_usage),
        ("spec_accept_length", "The average acceptance length of speculation.", stats.spec_accept_length),
        ("spec_accept_rate", "The average acceptance rate of speculation.", stats.spec_accept_rate),
    ]
    return "".join(
        f"# HELP sglang:{name} {text}\n# TYPE sglang:{name} gauge\nsglang:{name}{{{labels}}} {float(value)}\n"
        for name, text, value in gauges
    )

"""From a launch's arguments to the simulated device and loader that serve it."""

from __future__ import annotations

import os
import random

from ..srt.server_args import ServerArgs, read_model_config
from .clock import Clock
from .device import Device
from .loading import Loader
from .process_group import ProcessGroup
from .settings import read_settings
from .timing import RIGHT_LAYER_IDS, TimingModel


def draft_layers_right(draft_path: str) -> bool:
    """True unless the draft's config.json names layers that it was not trained on."""
    eagle_config = read_model_config(draft_path).get("eagle_config", {})
    return bool(eagle_config.get("eagle_aux_hidden_state_layer_ids", RIGHT_LAYER_IDS) == RIGHT_LAYER_IDS)


def timing_model(server_args: ServerArgs) -> TimingModel:
    """The timing model of a launch: flags, NCCL_PROTO, the demo's profile and the draft's config."""
    profile, protocol = read_settings().profile, os.environ.get("NCCL_PROTO", "")
    if server_args.speculative_algorithm is None:
        return TimingModel(profile, protocol=protocol, tensor_parallel=server_args.tp_size)
    return TimingModel(
        profile,
        steps=server_args.speculative_num_steps,
        topk=server_args.speculative_eagle_topk,
        draft_tokens=server_args.speculative_num_draft_tokens,
        protocol=protocol,
        tensor_parallel=server_args.tp_size,
        overlapped=not server_args.disable_overlap_schedule,
        layers_right=draft_layers_right(server_args.speculative_draft_model_path),
    )


def build_device(server_args: ServerArgs, clock: Clock, seed: int | None) -> Device:
    """The device that a launch runs on; a seed makes it repeatable."""
    return Device(timing_model(server_args), clock, random.Random(seed))  # noqa: S311 - noise, no secret


def build_loader(server_args: ServerArgs, group: ProcessGroup) -> Loader:
    """The loader of a launch's rank."""
    return Loader(server_args, read_settings(), group)

"""The first server's command line on a demo host, alone or as a node of a larger server."""

from __future__ import annotations

from dataclasses import replace

from specttui.demo.scratch import Scratch
from specttui.demo.simulated.sglang.simulation.timing import Profile
from specttui.launch.nodes import NodePlace


def on_each_node(profile: Profile, nodes: int) -> Profile:
    """The machine of one node: the profile's GPUs are shared out, one more on each where they do not divide.

    So a server keeps about the profile's number of ranks, however many hosts it spans, and uses all GPUs:
    8 GPUs are 4 + 4 on two nodes and 3 + 3 + 3 on three.
    """
    return replace(profile, gpu_count=-(-profile.gpu_count // nodes))


def server_argv(
    scratch: Scratch, machine: Profile, place: NodePlace, port: int, steps: int
) -> tuple[str, ...]:
    """The command line.

    Args:
        scratch: The host's folder.
        machine: The host's GPUs.
        place: Which node of its server the host runs.
        port: Where it answers; a node that answers nobody only bears it.
        steps: Speculative steps; 0 is without speculation.
    """
    ranks = machine.gpu_count * place.count
    argv = ["python3", "-m", "sglang.launch_server", "--model-path", str(scratch.target_path)]
    argv += ["--host", "127.0.0.1", "--port", str(port), "--tp", str(ranks)]
    argv += ["--trust-remote-code", "--mem-fraction-static", "0.85", "--enable-metrics"]
    if place.count > 1:
        argv += ["--nnodes", str(place.count), "--node-rank", str(place.rank)]
        argv += ["--dist-init-addr", place.address]
    if steps:
        argv += ["--speculative-algorithm", "EAGLE3"]
        argv += ["--speculative-draft-model-path", str(scratch.draft_path)]
        argv += ["--speculative-num-steps", str(steps), "--speculative-eagle-topk", "1"]
        argv += ["--speculative-num-draft-tokens", str(steps + 1)]
    return tuple(argv)

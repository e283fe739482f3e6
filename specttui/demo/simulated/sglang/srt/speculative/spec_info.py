"""Which worker serves a launch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...simulation.device import Device
from ..managers.tp_worker import TpModelWorker
from ..server_args import ServerArgs

if TYPE_CHECKING:
    from .eagle_worker import EAGLEWorker
    from .eagle_worker_v2 import EAGLEWorkerV2

    AnyWorker = TpModelWorker | EAGLEWorker | EAGLEWorkerV2


def create_worker(server_args: ServerArgs, device: Device, tp_rank: int = 0) -> AnyWorker:
    """The worker whose cycle method the scheduler calls; its file is imported only here.

    So a changed worker file takes effect with the next start, and a broken one fails it.
    """
    target_worker = TpModelWorker(device, tp_rank)
    if server_args.speculative_algorithm is None:
        return target_worker
    if server_args.disable_overlap_schedule:
        from .eagle_worker import EAGLEWorker

        return EAGLEWorker(server_args, device, tp_rank, target_worker)
    from .eagle_worker_v2 import EAGLEWorkerV2

    return EAGLEWorkerV2(server_args, device, tp_rank, target_worker)

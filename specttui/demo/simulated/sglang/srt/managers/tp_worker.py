"""The worker of the target model."""

from __future__ import annotations

from ...simulation.device import Device
from .schedule_batch import GenerationBatchResult, ScheduleBatch


class TpModelWorker:
    """Runs the target model's forwards on the simulated device."""

    def __init__(self, device: Device, tp_rank: int = 0) -> None:
        self.device = device
        self.tp_rank = tp_rank

    def forward_batch_generation(
        self, batch: ScheduleBatch, is_verify: bool = False
    ) -> GenerationBatchResult:
        """One forward: prefill, plain decode, or the verification of drafts (without their acceptance)."""
        size = batch.batch_size()
        if batch.forward_mode.is_extend():
            self.device.prefill(batch.extend_num_tokens)
        elif is_verify:
            self.device.target_verify(size)
        else:
            self.device.begin_cycle()
            self.device.decode(size)
        return GenerationBatchResult(
            next_token_ids=[0] * size, can_run_cuda_graph=not batch.forward_mode.is_extend()
        )

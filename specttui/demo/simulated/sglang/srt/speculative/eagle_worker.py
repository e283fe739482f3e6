"""The synchronous EAGLE worker: draft, verify, extend, one after the other."""

from __future__ import annotations

from ...simulation.device import Device
from ..managers.schedule_batch import GenerationBatchResult, ScheduleBatch
from ..managers.tp_worker import TpModelWorker
from ..server_args import ServerArgs
from .eagle_info import EagleVerifyInput, EagleVerifyOutput


class EAGLEWorker(TpModelWorker):
    """Owns the draft model and drives the target model through its worker."""

    def __init__(
        self, server_args: ServerArgs, device: Device, tp_rank: int, target_worker: TpModelWorker
    ) -> None:
        super().__init__(device, tp_rank)
        self.server_args = server_args
        self.target_worker = target_worker
        self.topk = int(server_args.speculative_eagle_topk)
        self.speculative_num_steps = int(server_args.speculative_num_steps)
        self.speculative_num_draft_tokens = int(server_args.speculative_num_draft_tokens)

    def forward_batch_generation(
        self, batch: ScheduleBatch, is_verify: bool = False
    ) -> GenerationBatchResult:
        """One decode cycle, or one prefill."""
        del is_verify
        if batch.forward_mode.is_extend() or batch.is_extend_in_batch:
            result = self.forward_target_extend(batch)
            self.forward_draft_extend(batch)
            return result
        self.device.begin_cycle()
        batch.spec_info = self.draft(batch)
        logits_output, verify_output, can_run_cuda_graph = self.verify(batch)
        del logits_output
        if verify_output.verified_id:
            self.forward_draft_extend_after_decode(batch)
        self.device.between_phases()
        counts = verify_output.num_correct_drafts_per_req_cpu
        return GenerationBatchResult(
            next_token_ids=verify_output.verified_id,
            can_run_cuda_graph=can_run_cuda_graph,
            num_correct_drafts=sum(counts),
            num_correct_drafts_per_req_cpu=counts,
        )

    def draft(self, batch: ScheduleBatch) -> EagleVerifyInput:
        """Run all draft steps."""
        del batch
        self.device.draft()
        return EagleVerifyInput(self.speculative_num_draft_tokens, self.speculative_num_steps, self.topk)

    def verify(self, batch: ScheduleBatch) -> tuple[None, EagleVerifyOutput, bool]:
        """Score the drafts with the target model and accept the right ones."""
        result = self.target_worker.forward_batch_generation(batch, is_verify=True)
        counts = self.device.accept(batch.batch_size())
        verified = [0] * (sum(counts) + len(counts))
        return None, EagleVerifyOutput(verified, counts), result.can_run_cuda_graph

    def forward_draft_extend_after_decode(self, batch: ScheduleBatch) -> None:
        """Bring the draft model's KV cache up to what was accepted."""
        del batch
        self.device.draft_extend()

    def forward_target_extend(self, batch: ScheduleBatch) -> GenerationBatchResult:
        """Prefill the target model."""
        return self.target_worker.forward_batch_generation(batch)

    def forward_draft_extend(self, batch: ScheduleBatch) -> None:
        """Prefill the draft model."""
        self.device.prefill_draft(batch.extend_num_tokens)

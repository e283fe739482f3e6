"""The overlapped EAGLE worker: the scheduler takes a cycle's result while the next one runs."""

from __future__ import annotations

from collections.abc import Callable

from ...simulation.device import Device
from ..managers.schedule_batch import GenerationBatchResult, ScheduleBatch
from ..managers.tp_worker import TpModelWorker
from ..server_args import ServerArgs
from .eagle_info import EagleVerifyInput


class EagleDraftWorker:
    """Runs the draft model."""

    def __init__(self, server_args: ServerArgs, device: Device) -> None:
        self.device = device
        self.topk = int(server_args.speculative_eagle_topk)
        self.speculative_num_steps = int(server_args.speculative_num_steps)
        self.speculative_num_draft_tokens = int(server_args.speculative_num_draft_tokens)

    def draft(self, batch: ScheduleBatch) -> EagleVerifyInput:
        """Run all draft steps."""
        del batch
        self.device.draft()
        return EagleVerifyInput(self.speculative_num_draft_tokens, self.speculative_num_steps, self.topk)

    def _draft_extend_for_prefill(self, batch: ScheduleBatch, result: GenerationBatchResult) -> None:
        """Prefill the draft model."""
        del result
        self.device.prefill_draft(batch.extend_num_tokens)

    def _draft_extend_for_decode(self, batch: ScheduleBatch, result: GenerationBatchResult) -> None:
        """Bring the draft model's KV cache up to what was accepted."""
        del batch, result
        self.device.draft_extend()


class EAGLEWorkerV2:
    """Drives the draft worker and the target worker through decode cycles."""

    def __init__(
        self, server_args: ServerArgs, device: Device, tp_rank: int, target_worker: TpModelWorker
    ) -> None:
        self.server_args = server_args
        self.device = device
        self.tp_rank = tp_rank
        self.speculative_num_steps = int(server_args.speculative_num_steps)
        self.speculative_num_draft_tokens = int(server_args.speculative_num_draft_tokens)
        self._target_worker = target_worker
        self._draft_worker = EagleDraftWorker(server_args, device)

    @property
    def target_worker(self) -> TpModelWorker:
        """The target model's worker."""
        return self._target_worker

    @property
    def draft_worker(self) -> EagleDraftWorker:
        """The draft model's worker."""
        return self._draft_worker

    def forward_batch_generation(
        self, batch: ScheduleBatch, on_publish: Callable[[list[int]], None] | None = None
    ) -> GenerationBatchResult:
        """One decode cycle, or one prefill."""
        if batch.forward_mode.is_extend() or batch.is_extend_in_batch:
            result = self.target_worker.forward_batch_generation(batch)
            self.draft_worker._draft_extend_for_prefill(batch, result)  # noqa: SLF001
            return result
        self.device.begin_cycle()
        batch.spec_info = self.draft_worker.draft(batch)
        result = self.verify(batch)
        if on_publish is not None:
            on_publish(result.new_seq_lens)
        self.draft_worker._draft_extend_for_decode(batch, result)  # noqa: SLF001
        self.device.between_phases()
        return result

    def verify(self, batch: ScheduleBatch) -> GenerationBatchResult:
        """Score the drafts with the target model and accept the right ones."""
        forward = self.target_worker.forward_batch_generation(batch, is_verify=True)
        accept_lens = [count + 1 for count in self.device.accept(batch.batch_size())]
        return GenerationBatchResult(
            next_token_ids=[0] * sum(accept_lens),
            can_run_cuda_graph=forward.can_run_cuda_graph,
            accept_lens=accept_lens,
            new_seq_lens=[length + taken for length, taken in zip(batch.seq_lens, accept_lens, strict=True)],
        )

    def on_verify_complete_cpu(self, num_correct_drafts_per_req: list[int], batch_size: int) -> None:
        """Told by the scheduler, one cycle later, how many drafts of each request were accepted.

        Adaptive speculation would choose its next step count here.
        """

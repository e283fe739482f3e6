"""Worker modules of our own in the shapes of SGLang's families, for tests of the probe.

Each is source text whose calls spend time on a `FakeMachine` through `work(name)`, a name the loader puts
into the module. `times` maps a name to (CPU ms, GPU ms).
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

EAGLE_V1 = """\
class EAGLEWorker:
    def __init__(self, target_worker):
        self.target_worker = target_worker
        self.token_to_kv_pool_allocator = target_worker.allocator
        self.speculative_num_steps = 3

    def forward_batch_generation(self, batch):
        if batch.forward_mode.is_extend() or batch.is_extend_in_batch:
            hidden = self.forward_target_extend(batch)
            self.forward_draft_extend(batch, hidden)
            return Result(num_correct_drafts=0)
        verify_input = self.draft(batch)
        logits, verified, graph = self.verify(batch)
        self.forward_draft_extend_after_decode(batch)
        counts = verified.num_correct_drafts_per_req_cpu
        return Result(num_correct_drafts_per_req_cpu=counts, token=verify_input)

    def forward_target_extend(self, batch):
        return self.target_worker.forward_batch_generation(batch)

    def forward_draft_extend(self, batch, hidden):
        work("prefill_draft")

    def draft(self, batch):
        self.token_to_kv_pool_allocator.alloc(4)
        work("draft")
        return "drafted"

    def verify(self, batch):
        work("prepare")
        logits = self.target_worker.forward_batch_generation(batch, is_verify=True)
        work("accept")
        synchronize()
        self.token_to_kv_pool_allocator.free([1])
        return logits, Verified(batch.accepted), True

    def forward_draft_extend_after_decode(self, batch):
        work("draft_extend")


class Verified:
    def __init__(self, accepted):
        self.num_correct_drafts_per_req_cpu = list(accepted)
"""

EAGLE_V1_LOOP = """\
class EAGLEWorker:
    def __init__(self, target_worker):
        self.target_worker = target_worker
        self.server_args = Arguments(speculative_num_steps=3)

    def forward_batch_speculative_generation(self, batch):
        if batch.forward_mode.is_decode():
            for _ in range(self.server_args.speculative_num_steps):
                self.forward_draft_decode(batch)
            draft_input, logits, verified_id, lengths, accept_length_cpu, worker_batch = self.verify(batch)
            if verified_id is not None:
                self.forward_draft_extend_after_decode(batch)
            return logits, verified_id, worker_batch, sum(accept_length_cpu)
        logits = self.target_worker.forward_batch_generation(batch)
        self.forward_draft_extend(batch)
        return logits, [1], batch, 0

    def forward_draft_decode(self, batch):
        work("draft")

    def forward_draft_extend(self, batch):
        work("prefill_draft")

    def verify(self, batch):
        logits = self.target_worker.forward_batch_generation(batch, skip_sample=True)
        work("accept")
        synchronize()
        return "next", logits, [1], {"rid": 7}, list(batch.accepted), batch

    def forward_draft_extend_after_decode(self, batch):
        work("draft_extend")
"""

EAGLE_V2 = """\
class EagleDraftWorker:
    def draft(self, batch):
        work("draft")
        return "drafted"

    def _draft_extend_for_prefill(self, batch, result):
        work("prefill_draft")

    def _draft_extend_for_decode(self, batch, result):
        work("draft_extend")


class EAGLEWorkerV2:
    def __init__(self, target_worker):
        self._target_worker = target_worker
        self._draft_worker = EagleDraftWorker()
        self.speculative_num_steps = 3
        self.completed = []

    @property
    def target_worker(self):
        return self._target_worker

    @property
    def draft_worker(self):
        return self._draft_worker

    def forward_batch_generation(self, batch, on_publish=None):
        if batch.forward_mode.is_extend() or batch.is_extend_in_batch:
            result = self.target_worker.forward_batch_generation(batch)
            self.draft_worker._draft_extend_for_prefill(batch, result)
            return result
        if self.speculative_num_steps == 0:
            verify_input = self._build_trivial_verify_input(batch)
        else:
            verify_input = self.draft_worker.draft(batch)
        result = self.verify(batch)
        if self.speculative_num_steps == 0:
            self._stub_skipped_draft_extend(batch)
        else:
            self.draft_worker._draft_extend_for_decode(batch, result)
        result.token = verify_input
        return result

    def _build_trivial_verify_input(self, batch):
        work("trivial")
        return "trivial"

    def _stub_skipped_draft_extend(self, batch):
        work("stub")

    def verify(self, batch):
        self.target_worker.forward_batch_generation(batch, is_verify=True)
        work("accept")
        return Result(accept_lens=Lengths([count + 1 for count in batch.accepted]))

    def on_verify_complete_cpu(self, num_correct_drafts_per_req, batch_size=0):
        self.completed.append(list(num_correct_drafts_per_req))
"""

EAGLE_V2_INLINE = """\
class EAGLEWorkerV2:
    def __init__(self, target_worker):
        self.target_worker = target_worker
        self.draft_model_runner = Arguments(model=DraftModel())
        self.speculative_num_steps = 2

    def forward_batch_generation(self, batch):
        if batch.forward_mode.is_decode():
            self.draft(batch)
            return self.verify(batch)
        result = self.target_worker.forward_batch_generation(batch)
        self.forward_draft_extend(batch)
        return result

    def draft(self, batch):
        self.draft_model_runner.model.forward(batch)

    def forward_draft_extend(self, batch):
        work("prefill_draft")

    def verify(self, batch):
        self.target_worker.forward_batch_generation(forward_batch=batch, is_verify=True)
        work("accept")
        self.draft_model_runner.model.forward(batch)
        work("topk")
        return Result(accept_lens=Lengths([count + 1 for count in batch.accepted]))


class DraftModel:
    def forward(self, batch):
        work("draft")
"""

NGRAM = """\
class NGRAMWorker:
    def __init__(self, target_worker):
        self.target_worker = target_worker
        self.page_size = 1

    def forward_batch_generation(self, batch):
        self._prepare_for_speculative_decoding(batch)
        total = 0
        if batch.forward_mode.is_decode():
            self.target_worker.forward_batch_generation(batch, is_verify=True)
            verify_input = batch.spec_info
            total = verify_input.verify(batch)
            self._update_ngram_cache(batch)
        else:
            self.target_worker.forward_batch_generation(batch)
        return Result(num_accepted_tokens=total)

    def _prepare_for_speculative_decoding(self, batch):
        work("draft")

    def _update_ngram_cache(self, batch):
        work("other")


class VerifyInput:
    def verify(self, batch):
        work("accept")
        synchronize()
        return sum(batch.accepted)
"""

DFLASH_V1 = """\
class DFlashWorker:
    def __init__(self, target_worker):
        self.target_worker = target_worker
        self.block_size = 4

    def __getattr__(self, name):
        return getattr(self.target_worker, name)

    def forward_batch_generation(self, batch, **kwargs):
        if batch.forward_mode.is_extend() or batch.is_extend_in_batch:
            result = self.target_worker.forward_batch_generation(batch, **kwargs)
            self._append_target_hidden_to_draft_kv(batch)
            return result
        self._prepare_for_speculative_decoding(batch)
        self.target_worker.forward_batch_generation(batch, is_verify=True, **kwargs)
        work("accept")
        synchronize()
        self._append_target_hidden_to_draft_kv(batch)
        return Result(num_correct_drafts_per_req_cpu=list(batch.accepted))

    def _prepare_for_speculative_decoding(self, batch):
        work("draft")

    def _append_target_hidden_to_draft_kv(self, batch):
        work("draft_extend")
"""

DFLASH_V2 = """\
class DFlashWorkerV2:
    def __init__(self, target_worker):
        self.target_worker = target_worker
        self.draft_model_runner = DraftRunner()

    def forward_batch_generation(self, batch, on_publish=None):
        if batch.forward_mode.is_extend():
            result = self.target_worker.forward_batch_generation(batch)
            self._append_target_hidden_to_draft_kv_by_loc(batch)
            return result
        work("other")
        self.draft_model_runner.forward(batch)
        self._greedy_sample_from_vocab_parallel_head(batch)
        self.target_worker.forward_batch_generation(batch=None, forward_batch=batch, is_verify=True)
        work("accept")
        self._append_target_hidden_to_draft_kv_by_loc(batch)
        return Result(accept_lens=Lengths([count + 1 for count in batch.accepted]))

    def _greedy_sample_from_vocab_parallel_head(self, batch):
        work("sample")

    def _append_target_hidden_to_draft_kv_by_loc(self, batch):
        work("draft_extend")

    def on_verify_complete_cpu(self, num_correct_drafts_per_req, batch_size=0):
        pass


class DraftRunner:
    def forward(self, batch):
        work("draft")
"""

DSPARK = """\
class DSparkWorkerV2:
    def __init__(self, target_worker):
        self.target_worker = target_worker
        self._proposer = Proposer()
        self._verify_executor = Executor(target_worker)
        self._sampling_accept_graph = None

    def forward_batch_generation(self, batch, on_publish=None):
        if batch.forward_mode.is_extend():
            return self._forward_prefill(batch)
        return self._forward_decode(batch)

    def _forward_prefill(self, batch):
        result = self.target_worker.forward_batch_generation(batch)
        self._kv_injector.inject_prefill(batch)
        return result

    def _forward_decode(self, batch):
        self._proposer.propose(batch=batch)
        if batch.compact:
            self._verify_executor.run_compact(batch=batch)
        else:
            self._verify_executor.run_non_compact(batch=batch)
        if self._sampling_accept_graph is not None:
            self._sampling_accept_graph.run(batch)
        else:
            self._verify_executor.accept_and_finalize(batch=batch)
        self._verify_executor.commit_hidden(batch=batch)
        return Result(accept_lens=Lengths([count + 1 for count in batch.accepted]))

    def on_verify_complete_cpu(self, num_correct_drafts_per_req, batch_size=0):
        pass


class Proposer:
    def propose(self, batch):
        work("draft")


class Executor:
    def __init__(self, target_worker):
        self.target_worker = target_worker

    def run_compact(self, batch):
        work("prepare")
        self.target_worker.forward_batch_generation(batch, is_verify=True)

    run_non_compact = run_compact

    def accept_and_finalize(self, batch):
        work("accept")

    def commit_hidden(self, batch):
        work("draft_extend")
"""

UNO = """\
class UnoWorkerV2:
    def __init__(self, target_worker):
        self.target_worker = target_worker

    def forward_batch_generation(self, batch, on_publish=None):
        if batch.forward_mode.is_extend():
            return self._forward_prefill(batch)
        return self._forward_decode(batch)

    def _forward_prefill(self, batch):
        return self.target_worker.forward_batch_generation(batch)

    def _forward_decode(self, batch):
        if batch.tree:
            return self._forward_decode_tree(batch)
        self._run_draft_block(batch)
        self._run_target_block(batch)
        self._accept_and_pack()
        work("other")
        return Result(accept_lens=Lengths([count + 1 for count in batch.accepted]))

    def _forward_decode_tree(self, batch):
        self._run_draft_block(batch)
        sample_uno_clean_root()
        run_eagle_verify(batch, target_worker=self.target_worker)
        return Result(accept_lens=Lengths([count + 1 for count in batch.accepted]))

    def _run_draft_block(self, batch):
        return self._run_target_block(batch)

    def _run_target_block(self, batch):
        return self.target_worker.forward_batch_generation(batch, is_verify=True)

    @staticmethod
    def _accept_and_pack():
        work("accept")

    def on_verify_complete_cpu(self, num_correct_drafts_per_req, batch_size=0):
        pass


def sample_uno_clean_root():
    work("sample")


def run_eagle_verify(batch, target_worker):
    target_worker.forward_batch_generation(batch, is_verify=True)
    work("accept")
"""


class ForwardMode:
    """What a batch is, asked as SGLang's workers ask."""

    def __init__(self, name: str) -> None:
        self.name = name

    def is_extend(self) -> bool:
        """A prefill."""
        return self.name == "extend"

    def is_decode(self) -> bool:
        """A decode step."""
        return self.name == "decode"

    def is_idle(self) -> bool:
        """No requests."""
        return self.name == "idle"


@dataclass
class Batch:
    """A batch of as many requests as `accepted` has entries: each request's accepted drafts."""

    accepted: list[int]
    mode: str = "decode"
    is_extend_in_batch: bool = False
    tree: bool = False
    compact: bool = False
    extend_num_tokens: int | None = None
    spec_info: Any = None

    @property
    def seq_lens(self) -> list[int]:
        """One entry per request."""
        return [100] * len(self.accepted)

    @property
    def forward_mode(self) -> ForwardMode:
        """The batch's mode."""
        return ForwardMode(self.mode)


class Lengths:
    """A tensor of accept lengths, bonus included."""

    def __init__(self, values: list[int]) -> None:
        self.values = values

    def tolist(self) -> list[int]:
        """As a list."""
        return list(self.values)


class Result:
    """A generation result: whatever fields it is made with."""

    copy_done: Any = None

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    def copy_to_cpu(self) -> None:
        """The scheduler copies an overlapped result."""
        self.copied = True


@dataclass
class Arguments:
    """Server arguments or any other holder of attributes."""

    speculative_num_steps: int = 3
    model: Any = None


class Allocator:
    """An allocator of KV slots."""

    def __init__(self, work: Callable[[str], None]) -> None:
        self.work = work

    def alloc(self, count: int) -> list[int]:
        """Take slots."""
        self.work("kv")
        return list(range(count))

    def free(self, slots: list[int]) -> None:
        """Give slots back."""
        self.work("kv")


class TargetWorker:
    """The target model's worker."""

    def __init__(self, work: Callable[[str], None]) -> None:
        self.work = work
        self.allocator = Allocator(work)

    def forward_batch_generation(self, *_: Any, is_verify: bool = False, **__: Any) -> Result:
        """One forward of the target."""
        self.work("target")
        return Result(verified=is_verify)


@dataclass
class LoadedWorker:
    """A worker module that was executed, with one instance of its worker."""

    namespace: dict[str, Any]
    worker: Any
    target: TargetWorker
    method: str

    def run(self, batch: Batch) -> Any:
        """One call of the cycle method, as the scheduler makes it."""
        return getattr(self.worker, self.method)(batch)


def load_worker(
    source: bytes | str,
    class_name: str,
    spend: Callable[[str], None],
    synchronize: Callable[[], None] = lambda: None,
) -> LoadedWorker:
    """Execute a worker module's source and make one worker.

    Args:
        source: The module, patched or not.
        class_name: Its worker class.
        spend: Called with the name of every piece of work.
        synchronize: Called where a worker waits for the GPU.
    """
    module = types.ModuleType("fake_worker")
    names = {"work": spend, "synchronize": synchronize, "Result": Result, "Lengths": Lengths}
    module.__dict__.update(names, Arguments=Arguments)
    exec(_compiled(source), module.__dict__)
    target = TargetWorker(spend)
    cls = module.__dict__[class_name]
    method = "forward_batch_generation"
    if not hasattr(cls, method):
        method = "forward_batch_speculative_generation"
    return LoadedWorker(module.__dict__, cls(target), target, method)


@functools.cache
def _compiled(source: bytes | str) -> types.CodeType:
    return compile(source, "fake_worker.py", "exec")

"""Start-up: the steps from distributed set-up to captured graphs, with the lines the real ones print."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Sequence

from ..srt.server_args import ServerArgs
from .failures import bad_nccl_protocol, gpu_out_of_memory, not_enough_memory
from .logs import bar, graph_sizes, log_for_rank, write_raw
from .place import Place, rank_name
from .process_group import Alone, ProcessGroup
from .settings import Settings
from .timing import is_known_protocol

logger = logging.getLogger(__name__)

_LOWEST_MEM_FRACTION, _HIGHEST_MEM_FRACTION = 0.1, 0.95
_WEIGHTS_SHARE, _DRAFT_GB = 0.70, 1.6
_TOKENS_PER_FRACTION = 400000
_TARGET_SHARDS, _DRAFT_SHARDS = 64, 1
#: Seconds each step takes at speed 1; about 3 s in all.
_DISTRIBUTED_S, _WEIGHTS_S, _DRAFT_WEIGHTS_S, _GRAPHS_S, _DRAFT_GRAPHS_S = 0.3, 1.2, 0.2, 0.7, 0.4


class Loader:
    """Pretends to load one launch on all ranks of a node; everything that can go wrong with it raises.

    The first rank of a node speaks for all of them; the others have nothing to do but to meet the rest.

    Args:
        server_args: The resolved arguments.
        settings: Speed and machine.
        group: The ranks of the server, met during the distributed set-up.
    """

    def __init__(
        self, server_args: ServerArgs, settings: Settings, group: ProcessGroup | None = None
    ) -> None:
        self._args = server_args
        self._group: ProcessGroup = group or Alone(place=Place(0, server_args.tp_size))
        self._speed = settings.speed
        self._total_gb = settings.profile.gpu_memory_mib / 1024
        self._free_gb = self._total_gb - 1.5
        self._other_ranks = [rank_name(rank) for rank in self._group.place.on_node[1:]]
        self.max_total_num_tokens = int(_TOKENS_PER_FRACTION * server_args.mem_fraction_static)

    def load(self) -> None:
        """Load what this rank has to."""
        if not self._group.place.leads_node:
            self._group.join()
            return
        self.load_target()
        if self._args.speculative_algorithm is not None:
            self.load_draft()

    def load_target(self) -> None:
        """Distributed set-up, the target's weights, its KV cache and graphs."""
        self._init_distributed()
        weights_gb = _WEIGHTS_SHARE * self._total_gb
        self._load_weights("KimiK25ForConditionalGeneration", weights_gb, _TARGET_SHARDS, _WEIGHTS_S)
        if self._args.mem_fraction_static < _LOWEST_MEM_FRACTION:
            raise not_enough_memory()
        self._allocate(0.4 * self._free_gb, "KV size: {0:.2f} GB")
        self._capture("cuda graph", _GRAPHS_S)

    def load_draft(self) -> None:
        """The draft's weights, its KV cache and graphs."""
        logger.info("SPECULATIVE_MOE_RUNNER_BACKEND is not initialized, using auto backend")
        logger.info("Init torch distributed begin.")
        logger.info("Init torch distributed ends. elapsed=0.00 s, mem usage=0.00 GB")
        if self._args.mem_fraction_static > _HIGHEST_MEM_FRACTION:
            logger.info("Load weight begin. avail mem=%.2f GB", 1.07)
            raise gpu_out_of_memory(self._total_gb)
        self._load_weights("LlamaForCausalLMEagle3", _DRAFT_GB, _DRAFT_SHARDS, _DRAFT_WEIGHTS_S)
        self._allocate(1.4, "K size: {1:.2f} GB, V size: {1:.2f} GB")
        self._capture("draft cuda graph", _DRAFT_GRAPHS_S)
        if self._args.disable_overlap_schedule:
            self._capture("draft extend cuda graph", _DRAFT_GRAPHS_S / 2)

    def finish(self) -> None:
        """The line that ends rank 0's start."""
        args = self._args
        if self._group.place.rank:
            return
        logger.info(
            "max_total_num_tokens=%d, chunked_prefill_size=%d, max_prefill_tokens=%d, "
            "max_running_requests=%d, context_len=%d, available_gpu_mem=%.2f GB",
            self.max_total_num_tokens, args.chunked_prefill_size, args.max_prefill_tokens,
            args.max_running_requests, args.context_length or 262144, self._free_gb,
        )  # fmt: skip

    def _init_distributed(self) -> None:
        self._say("Init torch distributed begin.")
        began = time.monotonic()
        self._group.join()
        waited_s = time.monotonic() - began
        protocol = os.environ.get("NCCL_PROTO", "")
        if self._args.tp_size > 1:
            logger.info("sglang is using nccl==2.28.9")
            self._wait(_DISTRIBUTED_S)
            if protocol and not is_known_protocol(protocol):
                raise bad_nccl_protocol(protocol)
            logger.info("[AR] All-reduce call path: NCCL (custom AR disabled)")
        elapsed_s = waited_s + _DISTRIBUTED_S
        self._say(f"Init torch distributed ends. elapsed={elapsed_s:.2f} s, mem usage=1.12 GB")

    def _load_weights(self, model_class: str, size_gb: float, shards: int, seconds: float) -> None:
        self._say(f"Load weight begin. avail mem={self._free_gb:.2f} GB")
        write_raw("\n")
        self._progress(shards, seconds, lambda _: "Multi-thread loading shards: {}", blocks=False)
        self._free_gb -= size_gb
        self._say(
            f"Load weight end. elapsed={seconds / self._speed:.2f} s, type={model_class}, "
            f"avail mem={self._free_gb:.2f} GB, mem usage={size_gb:.2f} GB."
        )

    def _allocate(self, size_gb: float, sizes: str) -> None:
        logger.info("Using KV cache dtype: torch.bfloat16")
        self._free_gb -= size_gb
        text = sizes.format(size_gb, size_gb / 2)
        self._say(f"KV Cache is allocated. #tokens: {self.max_total_num_tokens}, {text}")
        self._say(f"Memory pool end. avail mem={self._free_gb:.2f} GB")

    def _capture(self, what: str, seconds: float) -> None:
        if self._args.disable_cuda_graph:
            return
        sizes = graph_sizes(self._args.cuda_graph_max_bs)
        begin = f"Capture {what} begin. This can take up to several minutes."
        self._say(f"{begin} avail mem={self._free_gb:.2f} GB")
        if what == "cuda graph":
            logger.info("Capture cuda graph bs %s", list(sizes))
        self._progress(len(sizes), seconds, lambda done: self._capture_text(sizes, done))
        self._free_gb -= 0.2
        self._say(
            f"Capture {what} end. Time elapsed: {seconds / self._speed:.2f} s. mem usage=0.20 GB. "
            f"avail mem={self._free_gb:.2f} GB."
        )

    def _capture_text(self, sizes: Sequence[int], done: int) -> str:
        size = sizes[max(0, len(sizes) - 1 - done)]
        return f"Capturing batches (bs={size} avail_mem={self._free_gb:.2f} GB): {{}}"

    def _progress(
        self, total: int, seconds: float, text: Callable[[int], str], *, blocks: bool = True
    ) -> None:
        began = time.monotonic()
        for done in range(total + 1):
            drawn = bar(done, total, time.monotonic() - began, blocks=blocks)
            write_raw("\r" + text(done).format(drawn))
            if done < total:
                self._wait(seconds / total)
        write_raw("\n")

    def _say(self, message: str) -> None:
        logger.info("%s", message)
        for rank in self._other_ranks:
            if logger.isEnabledFor(logging.INFO):
                log_for_rank(rank, message)

    def _wait(self, seconds: float) -> None:
        time.sleep(seconds / self._speed)
        self._group.check()

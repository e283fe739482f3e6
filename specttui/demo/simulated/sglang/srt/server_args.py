"""The server's arguments: read, checked and completed as the real ones are, with its messages."""

from __future__ import annotations

import json
import logging
import os
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .server_flags import parse_flags

logger = logging.getLogger(__name__)

_DEFAULT_MEM_FRACTION = 0.85
_MAX_CONTEXT = 262144
_SPECULATIVE_MAX_RUNNING = 48
_MAX_RUNNING = 2048
#: What the release chooses when no speculative number is given.
_AUTO_STEPS, _AUTO_TOPK, _AUTO_DRAFT_TOKENS = 3, 1, 4


class ServerArgs:
    """Every argument after resolution, as attributes; those that the simulation itself uses are named."""

    model_path: str
    tokenizer_path: str
    served_model_name: str
    host: str
    port: int
    api_key: str | None
    log_level: str
    context_length: int | None
    attention_backend: str | None
    random_seed: int
    mem_fraction_static: float
    chunked_prefill_size: int
    max_prefill_tokens: int
    max_running_requests: int
    tp_size: int
    nnodes: int
    node_rank: int
    dist_init_addr: str | None
    dist_timeout: int | None
    decode_log_interval: int
    cuda_graph_max_bs: int
    disable_cuda_graph: bool
    disable_overlap_schedule: bool
    skip_server_warmup: bool
    enable_metrics: bool
    speculative_algorithm: str | None
    speculative_draft_model_path: str
    # Missing ones are found out as in the real code: by a comparison that fails.
    speculative_num_steps: Any
    speculative_eagle_topk: Any
    speculative_num_draft_tokens: Any

    def __init__(self, values: Mapping[str, object]) -> None:
        self.__dict__.update(values)
        self._resolve()

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self.as_dict().items())
        return f"ServerArgs({fields})"

    def as_dict(self) -> dict[str, Any]:
        """Names and values in the order of declaration."""
        return dict(self.__dict__)

    def url(self) -> str:
        """Where the server answers."""
        host = "127.0.0.1" if self.host == "0.0.0.0" else self.host  # noqa: S104 - only compared
        return f"http://{host}:{self.port}"

    def _resolve(self) -> None:
        read_model_config(self.model_path)
        self.tokenizer_path = self.tokenizer_path or self.model_path
        self.served_model_name = self.served_model_name or self.model_path
        self.random_seed = self.random_seed or random.randrange(2**30)  # noqa: S311
        self.mem_fraction_static = self.mem_fraction_static or _DEFAULT_MEM_FRACTION
        if self.attention_backend is None:
            logger.info("Attention backend not specified. Use fa3 backend by default.")
            self.attention_backend = "fa3"
        self._check_nodes()
        self._check_context()
        if self.speculative_algorithm is not None:
            self._resolve_speculation()
        self.max_running_requests = self.max_running_requests or _MAX_RUNNING

    def _check_nodes(self) -> None:
        if self.nnodes > 1:
            assert self.tp_size % self.nnodes == 0, "tp_size must be divisible by number of nodes"
            assert self.dist_init_addr, "please provide --dist-init-addr as host:port of head node"

    def _check_context(self) -> None:
        if self.context_length is not None and self.context_length > _MAX_CONTEXT:
            raise ValueError(
                f"User-specified context_length ({self.context_length}) is greater than the derived "
                f"context_length ({_MAX_CONTEXT}). This may lead to incorrect model outputs or CUDA errors. "
                "To allow overriding this maximum, set the env var "
                "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=1"
            )

    def _resolve_speculation(self) -> None:
        if self.speculative_algorithm == "NEXTN":
            self.speculative_algorithm = "EAGLE"
        self.speculative_draft_model_path = self.speculative_draft_model_path or self.model_path
        read_model_config(self.speculative_draft_model_path)
        if not self.max_running_requests:
            self.max_running_requests = _SPECULATIVE_MAX_RUNNING
            logger.warning(
                "Max running requests is reset to 48 for speculative decoding. "
                "You can override this by explicitly setting --max-running-requests."
            )
        self._choose_numbers()
        self._choose_worker()

    def _choose_numbers(self) -> None:
        if self.speculative_num_steps is None:
            assert self.speculative_eagle_topk is None
            assert self.speculative_num_draft_tokens is None
            self.speculative_num_steps = _AUTO_STEPS
            self.speculative_eagle_topk = _AUTO_TOPK
            self.speculative_num_draft_tokens = _AUTO_DRAFT_TOKENS
        if self.speculative_eagle_topk > 1:
            self._check_tree()
        elif self.speculative_num_draft_tokens != self.speculative_num_steps + 1:
            logger.warning(
                "speculative_num_draft_tokens is adjusted to speculative_num_steps + 1 "
                "when speculative_eagle_topk == 1"
            )
            self.speculative_num_draft_tokens = self.speculative_num_steps + 1

    def _check_tree(self) -> None:
        topk, steps = self.speculative_eagle_topk, self.speculative_num_steps
        if self.speculative_num_draft_tokens - 1 > topk + (steps - 1) * topk * topk:
            raise RuntimeError("selected index k out of range")

    def _choose_worker(self) -> None:
        wanted = os.environ.get("SGLANG_ENABLE_SPEC_V2", "true").lower() not in {"0", "false", "no", "n"}
        reason = ""
        if self.disable_overlap_schedule:
            reason = "overlap schedule is disabled."
        elif not wanted:
            reason = "SGLANG_ENABLE_SPEC_V2=False."
        elif self.speculative_eagle_topk > 1:
            reason = "spec v2 currently only supports topk = 1."
        subject = "eagle/eagle3/standalone speculative decoding"
        if reason:
            self.disable_overlap_schedule = True
            logger.warning("Spec v1 is used for %s because %s", subject, reason)
        else:
            logger.warning("Spec v2 is enabled by default for %s.", subject)


def read_model_config(path: str) -> dict[str, Any]:
    """The config.json of a model folder.

    Raises:
        OSError: There is no such folder; worded as the model hub's client does.
    """
    try:
        config = json.loads((Path(path) / "config.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise OSError(
            "Repo id must be in the form 'repo_name' or 'namespace/repo_name': "
            f"'{path}'. Use `repo_type` argument if needed."
        ) from None
    return dict(config)


def prepare_server_args(argv: Sequence[str]) -> ServerArgs:
    """Arguments from a command line; bad flags exit with 2, bad combinations raise."""
    return ServerArgs(parse_flags(argv))

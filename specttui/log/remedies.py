"""What a user can do about each category of failure."""

from __future__ import annotations

from typing import Final

_LESS_MEMORY = "Lower --mem-fraction-static, --cuda-graph-max-bs or --max-running-requests"
_READ_THE_LINES = "Read the lines; if they came with a changed setting, go back to the last good one."

#: Category to remedy; one sentence or two, in the imperative.
REMEDIES: Final[dict[str, str]] = {
    "oom": f"{_LESS_MEMORY}; check with nvidia-smi that no other process holds GPU memory.",
    "oom_weights": (
        "The target model does not fit: raise --tp-size, quantise, or free the GPUs of other processes."
    ),
    "oom_draft": (
        "Lower --mem-fraction-static so that the draft model fits beside the KV pool. On SGLang before "
        "0.5.11 without SGLANG_ENABLE_SPEC_V2=1 some models are loaded twice: set it."
    ),
    "oom_kv": "Lower --mem-fraction-static or --max-total-tokens: the KV pool does not fit.",
    "oom_graphs": f"{_LESS_MEMORY}: capturing CUDA graphs ran out of memory.",
    "not_enough_memory": (
        "Raise --mem-fraction-static: weights leave no room for a KV pool within the fraction allowed."
    ),
    "bad_flag": "Remove or correct the flag; specttui HOST shows the command line before each restart.",
    "bad_value": "Correct the value and start again.",
    "missing_arguments": (
        "Set --speculative-num-steps, --speculative-eagle-topk and --speculative-num-draft-tokens together."
    ),
    "bad_model_path": "Check that the path exists on the host (or is a model's id) and is readable there.",
    "context_too_long": (
        "Lower --context-length, or set SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=1 if you are sure."
    ),
    "port_in_use": (
        "Another process listens on the port: stop it or choose another --port. The ready line after this "
        "is not about this server: its warm-up reached the other one."
    ),
    "nccl": "Undo the last NCCL change; set NCCL_DEBUG=WARN to see NCCL's own reason.",
    "nodes_apart": (
        "Set GLOO_SOCKET_IFNAME and NCCL_SOCKET_IFNAME to the interface that joins the hosts, and check "
        "firewalls between them."
    ),
    "peer_lost": (
        "Another rank ended first: its reason stands above, or in the log of another host of this server."
    ),
    "oom_nccl": (
        "NCCL found no GPU memory for its buffers: lower --mem-fraction-static, or undo the NCCL change "
        "(channels, buffer size, NCCL_GRAPH_FILE) that made it need more."
    ),
    "collective_timeout": (
        "Ranks wait for each other: a hang or deadlock. If it began with an NCCL change, go back to the "
        "last good configuration."
    ),
    "watchdog": (
        "A forward pass never came back. If it began with a changed setting, go back to the last good "
        "configuration; otherwise look at the GPUs and at the lines before."
    ),
    "scheduler_exception": _READ_THE_LINES,
    "exception": _READ_THE_LINES,
    "request_exception": "One request failed; the server goes on.",
    "graph_capture": (
        "Lower --cuda-graph-max-bs or --mem-fraction-static, or change the attention backend. "
        "--disable-cuda-graph starts, but its times say nothing about normal running."
    ),
    "subprocess_crashed": (
        "A process of the server was killed from outside or crashed without a word: look in dmesg for the "
        "kernel's out-of-memory killer and for GPU (Xid) errors."
    ),
    "scheduler_dead": "Its reason stands above, or was not logged: look in dmesg.",
    "sigquit": "A child process failed before this line; its reason stands above, or was not logged.",
    "killed": (
        "The kernel or somebody killed the server: look in dmesg for the out-of-memory killer and free "
        "host memory."
    ),
    "segfault": "Native code crashed; look in dmesg, and undo the last change of backend or library.",
    "cuda_error": "Look for GPU (Xid) errors in dmesg; CUDA_LAUNCH_BLOCKING=1 names the failing kernel.",
    "import_error": "A module is missing or broken in the server's Python environment: install or repair it.",
    "warmup_failed": "The server came up but its own first request failed: see the lines before.",
    "nan_logits": "The model computes NaN: check the quantisation, the attention backend and the weights.",
    "health_check": "The scheduler or detokenizer does not answer: it hangs, or is far behind.",
    "disk_full": "Free space on the host's disk.",
}
#: What to add where a traceback passes through our hook, as that of every exception in a hooked call does.
PASSED_REMEDY: Final = (
    "The traceback passes through specttui's probe, which did not raise it: if it comes only with the probe, "
    "bring the original back with x and start again."
)
#: What to say where our own code raised.
PROBE_REMEDY: Final = (
    "The exception was raised in specttui's probe: restore the worker file (x) and start the server again, "
    "then report it."
)

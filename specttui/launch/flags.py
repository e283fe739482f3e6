"""SGLang's flags as far as we read or change them: names, aliases, abbreviations, how many values.

Facts from SGLang 0.4.1 to 0.5.23. SGLang's parser is argparse, so unambiguous abbreviations are allowed and
the last occurrence of a flag wins.
"""

from __future__ import annotations

MODEL_PATH = "--model-path"
HOST = "--host"
PORT = "--port"
CONFIG = "--config"
TENSOR = "--tensor-parallel-size"
DATA = "--data-parallel-size"
PIPELINE = "--pipeline-parallel-size"
NODE_COUNT = "--nnodes"
NODE_RANK = "--node-rank"
INIT_ADDRESS = "--dist-init-addr"
EXPERT = "--expert-parallel-size"
ALGORITHM = "--speculative-algorithm"
DRAFT_MODEL = "--speculative-draft-model-path"
NUM_STEPS = "--speculative-num-steps"
EAGLE_TOPK = "--speculative-eagle-topk"
NUM_DRAFT_TOKENS = "--speculative-num-draft-tokens"
ADAPTIVE = "--speculative-adaptive"
BETA_SPEC = "--enable-beta-spec"
MULTI_LAYER_EAGLE = "--enable-multi-layer-eagle"
NO_OVERLAP = "--disable-overlap-schedule"
NO_CUSTOM_ALL_REDUCE = "--disable-custom-all-reduce"
DETERMINISTIC = "--enable-deterministic-inference"
NCCL_NVLS = "--enable-nccl-nvls"
SYMM_MEM = "--enable-symm-mem"
ATTENTION_BACKEND = "--attention-backend"
PAGE_SIZE = "--page-size"
MAX_RUNNING = "--max-running-requests"

#: Another spelling of a flag -> the flag.
ALIASES = {
    "--model": MODEL_PATH,
    "--tp-size": TENSOR,
    "--dp-size": DATA,
    "--pp-size": PIPELINE,
    "--ep-size": EXPERT,
    "--ep": EXPERT,
    "--nccl-init-addr": "--dist-init-addr",
    "--speculative-draft-model": DRAFT_MODEL,
    "--speculative-dflash-draft-window-size": "--speculative-draft-window-size",
}

#: The speculative flags of the first release that had any: what a short abbreviation meant then.
_OLDEST_SPECULATIVE = frozenset({ALGORITHM, DRAFT_MODEL, NUM_STEPS, EAGLE_TOPK, NUM_DRAFT_TOKENS})

#: Flags an abbreviation may stand for. A subset of SGLang's own is enough: a server that started was given no
#: ambiguous one, so the only match here is the only match there; but a flag that begins another must be here.
_KNOWN = frozenset(
    {
        MODEL_PATH, HOST, PORT, CONFIG, TENSOR, DATA, PIPELINE, EXPERT, ALGORITHM, DRAFT_MODEL, NUM_STEPS,
        EAGLE_TOPK, NUM_DRAFT_TOKENS, ADAPTIVE, BETA_SPEC, MULTI_LAYER_EAGLE, NO_OVERLAP,
        NO_CUSTOM_ALL_REDUCE, DETERMINISTIC, NCCL_NVLS, SYMM_MEM, ATTENTION_BACKEND, PAGE_SIZE, MAX_RUNNING,
        "--api-key", "--admin-api-key", "--ssl-keyfile", "--ssl-keyfile-password", "--dist-init-addr",
        "--nccl-port", "--nnodes", "--node-rank", "--speculative-accept-threshold-single",
        "--speculative-accept-threshold-acc", "--speculative-token-map", "--speculative-attention-mode",
        "--speculative-draft-model-revision", "--speculative-draft-load-format",
        "--speculative-moe-runner-backend", "--speculative-moe-a2a-backend",
        "--speculative-draft-attention-backend", "--speculative-draft-model-quantization",
        "--speculative-draft-window-size", "--speculative-adaptive-config",
    }
)  # fmt: skip

#: Flags without a value whose name does not say so by its first word.
_SWITCHES = frozenset(
    {
        "--abort-on-priority-when-disabled", "--allow-auto-truncate", "--allow-jump-forward",
        "--checkpoint-engine-wait-weights-before-ready", "--constrained-json-disable-any-whitespace",
        "--debug-cuda-graph", "--delete-ckpt-after-loading",
        "--disaggregation-decode-enable-offload-kvcache", "--disaggregation-decode-enable-radix-cache",
        "--elastic-ep-rejoin", "--encoder-only", "--experts-shared-outer-loras", "--export-metrics-to-file",
        "--flashinfer-mla-disable-ragged", "--grpc-mode", "--incremental-streaming-output", "--is-embedding",
        "--keep-mm-feature-on-device", "--language-only", "--log-requests", "--lora-strict-loading",
        "--lora-use-virtual-experts", "--mm-enable-dp-encoder", "--pre-warm-nccl",
        "--prefill-only-disable-kv-cache", "--quantize-and-serve", "--record-nolora-graph",
        "--remote-instance-weight-loader-start-seed-via-transfer-engine", "--return-hidden-states",
        "--schedule-low-priority-values-first", "--show-time-cost", "--skip-server-warmup",
        "--skip-tokenizer-init", "--sleep-on-idle", "--speculative-adaptive",
        "--speculative-skip-dp-mlp-sync", "--speculative-use-block-verification",
        "--speculative-use-rejection-sampling", "--stream-output",
        "--stream-response-default-include-usage", "--strip-thinking-cache",
        "--triton-attention-reduce-in-fp32", "--trust-remote-code", "--use-ray",
        "--weight-loader-disable-mmap", "--weight-loader-drop-cache-after-load",
        "--weight-loader-prefetch-checkpoints",
    }
)  # fmt: skip
_SWITCH_WORDS = ("--enable-", "--disable-", "--enforce-", "--no-")

#: Flags that take as many values as follow.
_LISTS = frozenset(
    {
        "--bucket-e2e-request-latency", "--bucket-inter-token-latency", "--bucket-time-to-first-token",
        "--cuda-graph-bs", "--custom-weight-loader", "--debug-tensor-dump-layers", "--encoder-urls",
        "--gc-threshold", "--generation-tokens-buckets", "--log-requests-target", "--lora-paths",
        "--lora-target-modules", "--numa-node", "--piecewise-cuda-graph-tokens",
        "--prefill-delayer-forward-passes-buckets", "--prefill-delayer-wait-seconds-buckets",
        "--prompt-tokens-buckets", "--tokenizer-metrics-allowed-custom-labels",
        "--uvicorn-access-log-exclude-prefixes",
    }
)  # fmt: skip

#: Algorithms that draft with a model in steps, whose steps, top-k and draft tokens belong together.
EAGLE_LIKE = frozenset({"EAGLE", "EAGLE3", "NEXTN", "STANDALONE", "FROZEN_KV_MTP"})


def canonical(name: str) -> str:
    """The one name of a flag, whatever its spelling: alias, abbreviation or the name itself.

    Args:
        name: A flag as written, with its dashes and without a value.

    Returns:
        The canonical name; `name` itself for a flag we do not know or an abbreviation that stays ambiguous.
    """
    if name in ALIASES:
        return ALIASES[name]
    if name in _KNOWN or name in _SWITCHES or name in _LISTS or not name.startswith("--"):
        return name
    candidates = {ALIASES.get(known, known) for known in (*_KNOWN, *ALIASES) if known.startswith(name)}
    if len(candidates) == 1:
        return candidates.pop()
    oldest = candidates & _OLDEST_SPECULATIVE
    return oldest.pop() if len(oldest) == 1 else name


def is_speculative(name: str) -> bool:
    """True for a flag, in any spelling, that `baseline` removes."""
    found = canonical(name)
    return found.startswith("--spec") or found in {BETA_SPEC, MULTI_LAYER_EAGLE}


def is_switch(name: str) -> bool:
    """True for a flag that is known to take no value."""
    found = canonical(name)
    return found in _SWITCHES or found.startswith(_SWITCH_WORDS)


def is_list(name: str) -> bool:
    """True for a flag that takes several values."""
    return canonical(name) in _LISTS


def needs_value(name: str) -> bool:
    """True for a flag that is known to take a value; False for switches and for flags we do not know."""
    found = canonical(name)
    return not is_switch(found) and (found in _KNOWN or found in _LISTS)

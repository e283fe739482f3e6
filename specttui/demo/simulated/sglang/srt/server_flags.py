"""The flags that the simulated server takes: a part of the real ones, with their real names and defaults."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from typing import NamedTuple


class Flag(NamedTuple):
    """One flag; `kind` None is a switch without a value."""

    name: str
    kind: type | None = str
    default: object = None
    aliases: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()


FLAGS = (
    Flag("model-path", aliases=("model",)),
    Flag("tokenizer-path"),
    Flag("tokenizer-mode", default="auto", choices=("auto", "slow")),
    Flag("load-format", default="auto"),
    Flag("trust-remote-code", None),
    Flag("context-length", int),
    Flag("host", default="127.0.0.1"),
    Flag("port", int, 30000),
    Flag("skip-server-warmup", None),
    Flag("nccl-port", int),
    Flag("dtype", default="auto"),
    Flag("quantization"),
    Flag("kv-cache-dtype", default="auto"),
    Flag("mem-fraction-static", float),
    Flag("max-running-requests", int),
    Flag("max-total-tokens", int),
    Flag("chunked-prefill-size", int, 8192),
    Flag("max-prefill-tokens", int, 16384),
    Flag("schedule-policy", default="fcfs"),
    Flag("schedule-conservativeness", float, 1.0),
    Flag("page-size", int, 1),
    Flag("device", default="cuda"),
    Flag("tensor-parallel-size", int, 1, aliases=("tp-size", "tp")),
    Flag("pipeline-parallel-size", int, 1, aliases=("pp-size",)),
    Flag("stream-interval", int, 1),
    Flag("random-seed", int),
    Flag("watchdog-timeout", float, 300),
    Flag("soft-watchdog-timeout", float),
    Flag("base-gpu-id", int, 0),
    Flag("log-level", default="info"),
    Flag("log-level-http"),
    Flag("log-requests", None),
    Flag("log-requests-level", int, 2),
    Flag("show-time-cost", None),
    Flag("enable-metrics", None),
    Flag("enable-mfu-metrics", None),
    Flag("decode-log-interval", int, 40),
    Flag("api-key"),
    Flag("served-model-name"),
    Flag("chat-template"),
    Flag("reasoning-parser"),
    Flag("tool-call-parser"),
    Flag("data-parallel-size", int, 1, aliases=("dp-size",)),
    Flag("dist-init-addr", aliases=("nccl-init-addr",)),
    Flag("nnodes", int, 1),
    Flag("node-rank", int, 0),
    Flag("dist-timeout", int),
    Flag("attention-backend"),
    Flag("sampling-backend", default="flashinfer"),
    Flag("grammar-backend", default="xgrammar"),
    Flag("mm-attention-backend"),
    Flag("speculative-algorithm", choices=("EAGLE", "EAGLE3", "NEXTN")),
    Flag("speculative-draft-model-path", aliases=("speculative-draft-model",)),
    Flag("speculative-draft-model-revision"),
    Flag("speculative-draft-load-format"),
    Flag("speculative-num-steps", int),
    Flag("speculative-eagle-topk", int),
    Flag("speculative-num-draft-tokens", int),
    Flag("speculative-accept-threshold-single", float, 1.0),
    Flag("speculative-accept-threshold-acc", float, 1.0),
    Flag("speculative-token-map"),
    Flag("speculative-attention-mode", default="prefill", choices=("prefill", "decode")),
    Flag("speculative-draft-attention-backend"),
    Flag("speculative-draft-window-size", int),
    Flag("speculative-moe-runner-backend"),
    Flag("speculative-moe-a2a-backend"),
    Flag("speculative-draft-model-quantization"),
    Flag("expert-parallel-size", int, 1, aliases=("ep-size", "ep")),
    Flag("moe-runner-backend", default="auto"),
    Flag("enable-flashinfer-allreduce-fusion", None),
    Flag("disable-radix-cache", None),
    Flag("cuda-graph-max-bs", int, 32),
    Flag("disable-cuda-graph", None),
    Flag("enable-nccl-nvls", None),
    Flag("enable-symm-mem", None),
    Flag("enable-mscclpp", None),
    Flag("enable-torch-symm-mem", None),
    Flag("disable-custom-all-reduce", None),
    Flag("disable-overlap-schedule", None),
    Flag("enable-mixed-chunk", None),
    Flag("enable-dp-attention", None),
    Flag("disable-piecewise-cuda-graph", None),
    Flag("enable-torch-compile", None),
)
#: Flags whose field in ServerArgs is named differently.
_FIELDS = {
    "tensor-parallel-size": "tp_size",
    "pipeline-parallel-size": "pp_size",
    "data-parallel-size": "dp_size",
    "expert-parallel-size": "ep_size",
}


def parse_flags(argv: Sequence[str]) -> dict[str, object]:
    """Field names and values of a command line; an unknown flag prints the usage and exits with 2."""
    parser = ArgumentParser(prog="sglang serve")
    for flag in FLAGS:
        names = [f"--{name}" for name in (flag.name, *flag.aliases)]
        field = _FIELDS.get(flag.name, flag.name.replace("-", "_"))
        if flag.kind is None:
            parser.add_argument(*names, action="store_true", dest=field)
        else:
            parser.add_argument(
                *names,
                type=flag.kind,
                default=flag.default,
                dest=field,
                choices=flag.choices or None,
                required=flag.name == "model-path",
            )
    return vars(parser.parse_args(argv))

"""Bundled presets: named edits worth trying, by group; the last of each group takes its edits back."""

from __future__ import annotations

from collections.abc import Sequence

from specttui.errors import LaunchError
from specttui.events import Launch
from specttui.launch import flags
from specttui.launch.argv import parse
from specttui.launch.edits import Edit, Preset, RemoveFlag, SetEnv, SetFlag, UnsetEnv
from specttui.launch.settings import SPEC_V2_VARIABLE

_SIMULATED = "SGLANG_SIMULATE_ACC_LEN"


def _variable(
    group: str, name: str, choices: Sequence[tuple[str, str, str, str]], default: str
) -> tuple[Preset, ...]:
    """Presets of one variable: (preset, value, short, description) each, and the one that unsets it."""
    found = [
        Preset(preset, short, group, text, (SetEnv(name, value),)) for preset, value, short, text in choices
    ]
    found.append(
        Preset(f"{group} default", default, group, f"Unset {name}: NCCL chooses.", (UnsetEnv(name),))
    )
    return tuple(found)


_PROTOCOL = _variable(
    "NCCL protocol",
    "NCCL_PROTO",
    (
        (
            "NCCL LL",
            "LL",
            "LL",
            "Low latency: 8-byte stores with flags; best for small messages, half the bandwidth.",
        ),
        (
            "NCCL LL128",
            "LL128",
            "LL128",
            "Low latency in 128-byte lines; needs NVLink-class ordering of stores.",
        ),
        ("NCCL Simple", "Simple", "Simple", "Full bandwidth with memory fences; best for large messages."),
    ),
    "proto default",
)
_ALGORITHM = _variable(
    "NCCL algorithm",
    "NCCL_ALGO",
    (
        ("NCCL Ring", "Ring", "Ring", "Ring: full bandwidth, latency grows with the number of GPUs."),
        (
            "NCCL Tree",
            "allreduce:tree",
            "Tree",
            "Tree for all-reduce: latency grows with the logarithm of the GPUs.",
        ),
    ),
    "algo default",
)
_BUFFER = _variable(
    "NCCL buffer size",
    "NCCL_BUFFSIZE",
    (
        (
            "NCCL buffers 1 MiB",
            str(2**20),
            "buf 1M",
            "A quarter of the default buffer for each pair of GPUs: less memory.",
        ),
        (
            "NCCL buffers 8 MiB",
            str(2**23),
            "buf 8M",
            "Twice the default buffer: larger messages in one piece.",
        ),
        ("NCCL buffers 16 MiB", str(2**24), "buf 16M", "Four times the default buffer; costs GPU memory."),
    ),
    "buf default",
)
_THREADS = _variable(
    "NCCL threads",
    "NCCL_NTHREADS",
    (
        (
            "NCCL 128 threads",
            "128",
            "thr 128",
            "128 threads in each communication block: fewer, for slow clocks.",
        ),
        ("NCCL 256 threads", "256", "thr 256", "256 threads in each communication block."),
        (
            "NCCL 512 threads",
            "512",
            "thr 512",
            "512 threads in each communication block: the default of recent GPUs.",
        ),
    ),
    "thr default",
)
_ATTENTION = (
    *(
        Preset(
            f"attention {name}", name, "attention backend", text, (SetFlag(flags.ATTENTION_BACKEND, name),)
        )
        for name, text in (
            ("fa3", "FlashAttention 3: Hopper GPUs."),
            ("flashinfer", "FlashInfer: all recent NVIDIA GPUs."),
            ("triton", "Triton kernels: any GPU."),
            ("trtllm_mha", "TensorRT-LLM kernels: Blackwell GPUs; top-k 1 only."),
        )
    ),
    Preset(
        "attention backend default",
        "attn default",
        "attention backend",
        "SGLang chooses for the GPU and the model.",
        (RemoveFlag(flags.ATTENTION_BACKEND),),
    ),
)


def _channels(preset: str, short: str, text: str, *edits: Edit) -> Preset:
    return Preset(preset, short, "NCCL channels", text, edits)


_LEAST, _MOST = "NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS"
_CHANNELS = (
    _channels(
        "NCCL 8 channels or more",
        "ch 8+",
        "More blocks move data: bandwidth.",
        SetEnv(_LEAST, "8"),
        UnsetEnv(_MOST),
    ),
    _channels(
        "NCCL 16 channels or more",
        "ch 16+",
        "Still more bandwidth, fewer SMs left.",
        SetEnv(_LEAST, "16"),
        UnsetEnv(_MOST),
    ),
    _channels(
        "NCCL 2 channels at most",
        "ch 2-",
        "Few blocks: less work for small messages.",
        SetEnv(_MOST, "2"),
        UnsetEnv(_LEAST),
    ),
    _channels(
        "NCCL channels default", "ch default", "Unset both: NCCL chooses.", UnsetEnv(_LEAST), UnsetEnv(_MOST)
    ),
)


def _p2p(preset: str, short: str, text: str, *edits: Edit) -> Preset:
    return Preset(preset, short, "NCCL P2P", text, edits)


_LEVEL, _OFF = "NCCL_P2P_LEVEL", "NCCL_P2P_DISABLE"
_P2P = (
    *(
        _p2p(
            f"NCCL P2P {level}",
            f"P2P {level}",
            f"GPUs talk directly {text}.",
            SetEnv(_LEVEL, level),
            UnsetEnv(_OFF),
        )
        for level, text in (
            ("NVL", "only over NVLink"),
            ("PIX", "on one PCIe switch"),
            ("PXB", "across PCIe switches"),
            ("PHB", "through the CPU within a NUMA node"),
            ("SYS", "even between NUMA nodes"),
        )
    ),
    _p2p("NCCL P2P off", "no P2P", "GPUs talk through host memory.", SetEnv(_OFF, "1"), UnsetEnv(_LEVEL)),
    _p2p("NCCL P2P default", "P2P default", "Unset both: NCCL chooses.", UnsetEnv(_OFF), UnsetEnv(_LEVEL)),
)
_ALL_REDUCE = (
    Preset(
        "custom all-reduce off",
        "no custom AR",
        "custom all-reduce",
        "NCCL does every all-reduce, so NCCL's settings matter for decode.",
        (SetFlag(flags.NO_CUSTOM_ALL_REDUCE),),
    ),
    Preset(
        "custom all-reduce default",
        "custom AR",
        "custom all-reduce",
        "SGLang's own all-reduce takes small messages where the GPUs' links allow it.",
        (RemoveFlag(flags.NO_CUSTOM_ALL_REDUCE),),
    ),
)
_WORKER = (
    Preset(
        "spec v1",
        "v1",
        "spec worker",
        "The synchronous worker (SGLang 0.5.5 to 0.5.12; 0.5.13 has the overlapped one run in step).",
        (SetEnv(SPEC_V2_VARIABLE, "0"),),
    ),
    Preset(
        "spec v2",
        "v2",
        "spec worker",
        "The overlapped worker: the CPU prepares the next cycle while the GPU works (from SGLang 0.5.5).",
        (SetEnv(SPEC_V2_VARIABLE, "1"), RemoveFlag(flags.NO_OVERLAP)),
    ),
    Preset(
        "spec worker default",
        "worker default",
        "spec worker",
        "The release's own choice: v1 up to 0.5.10, v2 from 0.5.11.",
        (UnsetEnv(SPEC_V2_VARIABLE),),
    ),
)
_ACCEPTANCE = (
    *(
        Preset(
            f"simulate accept length {length}",
            f"sim {length}",
            "simulated acceptance",
            f"Timing only: each cycle accepts {length} tokens on average; the text is meaningless.",
            (SetEnv(_SIMULATED, str(length)),),
        )
        for length in (1, 2, 3, 4)
    ),
    Preset(
        "simulated acceptance off",
        "real acceptance",
        "simulated acceptance",
        "Real acceptance again.",
        (UnsetEnv(_SIMULATED),),
    ),
)

#: All bundled presets, by group; within a group they exclude each other and the last one clears the group.
PRESETS: tuple[Preset, ...] = (
    _PROTOCOL
    + _ALGORITHM
    + _CHANNELS
    + _BUFFER
    + _THREADS
    + _P2P
    + _ALL_REDUCE
    + _WORKER
    + _ATTENTION
    + _ACCEPTANCE
)


def preset(name: str) -> Preset:
    """The bundled preset of that name, in any case.

    Raises:
        LaunchError: There is none.
    """
    found = next((each for each in PRESETS if each.name.lower() == name.lower()), None)
    if found is None:
        raise LaunchError(
            f"There is no preset {name!r}", remedy="choose one of " + ", ".join(each.name for each in PRESETS)
        )
    return found


def is_active(candidate: Preset, launch: Launch) -> bool:
    """True when a launch has all that a preset sets; a preset that only takes back is never active."""
    sets = [edit for edit in candidate.edits if isinstance(edit, SetEnv | SetFlag)]
    return bool(sets) and all(_holds(edit, launch) for edit in candidate.edits)


def _holds(edit: Edit, launch: Launch) -> bool:
    match edit:
        case SetEnv(name, value):
            return launch.env.get(name) == value
        case UnsetEnv(name):
            return name not in launch.env
        case SetFlag(name, wanted):
            option = parse(launch.argv).find(name)
            return option is not None and option.value == wanted
        case RemoveFlag(name):
            return not parse(launch.argv).has(name)
    return False

"""What failures look like: patterns over a traceback's exceptions, and over single lines."""

from __future__ import annotations

import re
from dataclasses import dataclass

_OOM = (
    r"OutOfMemoryError|CUDA out of memory|HIP out of memory|CUDA error: out of memory|"
    r"cudaErrorMemoryAllocation"
)
_GRAPHS_OOM = "Capturing CUDA graphs ran out of GPU memory"
#: Patterns look at so much text only: nothing that matters comes later, and a long line costs no time.
_MAX_TEXT = 4000


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to fail. `title` may name the pattern's groups; groups become the event's details.

    `where` must be found in the traceback's frames too. `consequence` marks what follows from an earlier
    failure where there is one; `per_rank` what every rank says for itself, to be counted and told once.
    """

    category: str
    pattern: re.Pattern[str]
    title: str
    where: re.Pattern[str] | None = None
    fatal: bool = True
    consequence: bool = False
    per_rank: bool = False


def _rule(
    category: str,
    pattern: str,
    title: str,
    *,
    where: str = "",
    fatal: bool = True,
    consequence: bool = False,
    per_rank: bool = False,
) -> Rule:
    frames = re.compile(where) if where else None
    return Rule(category, re.compile(pattern), title, frames, fatal, consequence, per_rank)


_PORT = _rule(
    "port_in_use",
    r"\[Errno 98\](?:[^\n]{0,80}, (?P<port>\d{1,5})\))?|"
    r"^(?!.{0,100}Errno 98).{0,100}"
    r"(?i:address already in use|is used by a process already|port \d{1,5} is already in use)",
    "The port {port} is in use by another process",
)
_COLLECTIVE = _rule(
    "collective_timeout",
    r"Watchdog caught collective operation timeout: WorkNCCL\(SeqNum=(?P<seq>\d{1,12}), "
    r"OpType=(?P<op>\w{1,60}),.{0,200}?Timeout\(ms\)=(?P<timeout_ms>\d{1,12})",
    "The collective {op} (number {seq}) did not finish in {timeout_s} s",
    per_rank=True,
)
_NCCL_MEMORY = _rule(
    "oom_nccl", r"Failed to CUDA (?:calloc|malloc|host alloc)[^\n]{0,80}", "NCCL ran out of GPU memory"
)
_CONTEXT = _rule(
    "context_too_long",
    r"User-specified context_length \((?P<asked>\d{1,12})\) is greater than the derived context_length "
    r"\((?P<allowed>\d{1,12})\)",
    "The context length {asked} is more than the model's {allowed}",
)

#: Over the text of a traceback's exceptions (all of a chain), first match wins.
TRACEBACK_RULES: tuple[Rule, ...] = (
    _NCCL_MEMORY,
    _rule("oom_graphs", _OOM, _GRAPHS_OOM, where=r"graph_runner\.py|init_device_graphs"),
    _rule("oom_graphs", rf"Capture [\w \-]{{0,60}}graph failed: [^\n]{{0,200}}(?:{_OOM})", _GRAPHS_OOM),
    _rule(
        "oom_kv", _OOM, "The KV pool does not fit into GPU memory", where=r"memory_pool\.py|init_memory_pool"
    ),
    _rule(
        "oom_draft",
        _OOM,
        "The draft model does not fit into GPU memory",
        where=r"(?s)(?i:draft).*in load_model",
    ),
    _rule("oom_weights", _OOM, "The model does not fit into GPU memory", where=r"in load_model"),
    _rule("oom", rf"{_OOM}|(?:Prefill|Decode) out of memory", "GPU memory ran out"),
    _rule("not_enough_memory", r"Not enough memory[.;]", "The memory fraction leaves no room for a KV pool"),
    _rule("graph_capture", r"(?:Capture|capture) [\w \-]{0,60}graph failed", "Capturing CUDA graphs failed"),
    _CONTEXT,
    _rule(
        "bad_model_path",
        r"Repo id must be in the form[^\n]{0,80}: '(?P<path>[^'\n]{1,300})'",
        "The model path {path} does not exist on the host",
    ),
    _rule(
        "bad_model_path",
        r"(?<!\S)(?P<path>\S{1,300}) "
        r"(?:does not appear to have a file named config\.json|is not a local folder)",
        "There is no model at {path}",
    ),
    _rule(
        "bad_model_path",
        r"Cannot find any model weights|Can't load (?:the )?config|Unrecognized model in|"
        r"RepositoryNotFoundError|GatedRepoError|LocalEntryNotFoundError|HFValidationError",
        "The model cannot be found or read",
    ),
    _rule(
        "missing_arguments",
        r"'>=?' not supported between instances of 'NoneType' and 'int'|^AssertionError",
        "Speculative steps, top-k and draft tokens must be given together",
        where=r"(?s)server_args\.py.*speculative",
    ),
    _PORT,
    _COLLECTIVE,
    _rule(
        "scheduler_dead",
        r"EOFError|scheduler (?:is dead|died)|Please see the error messages above|ConnectionResetError"
        r"|BrokenPipeError",
        "A process of the server is gone",
        consequence=True,
    ),
    _rule(
        "nodes_apart",
        r"Gloo connectFullMesh failed|"
        r"gloo/transport/tcp/\S{1,40}\] [^\n]{0,80}(?:timed out|[Uu]nreachable|refused)",
        "The server's hosts cannot reach each other",
    ),
    _rule(
        "peer_lost",
        r"gloo/transport/tcp/\S{1,40}\] [^\n]{0,80}(?:closed by peer|reset by peer|Broken pipe)",
        "A rank lost the connection to another one",
    ),
    _rule(
        "nccl",
        r"NCCL error|ncclUnhandledCudaError|ncclInternalError|ncclSystemError|ncclInvalidUsage|"
        r"ncclRemoteError|DistBackendError|DistStoreError|DistNetworkError",
        "NCCL failed",
    ),
    _rule(
        "cuda_error",
        r"(?:CUDA|HIP) error: (?P<error>[^\n]{1,120})|AcceleratorError",
        "A GPU operation failed: {error}",
    ),
    _rule(
        "import_error",
        r"(?:ModuleNotFoundError|ImportError|SyntaxError|IndentationError)(?:: (?P<error>[^\n]{1,160}))?",
        "A module cannot be imported: {error}",
    ),
    _rule("disk_full", r"\[Errno 28\]|No space left on device", "The host's disk is full"),
    _rule(
        "bad_value",
        r"(?:ValueError|AssertionError)(?:: (?P<error>[^\n]{1,200}))?",
        "The server refuses a setting: {error}",
        where=r"server_args\.py",
    ),
)

#: Over single lines, first match wins.
LINE_RULES: tuple[Rule, ...] = (
    _rule(
        "watchdog",
        r"(?:^|(?P<process>[\w ]{1,40}) )[Ww]atchdog timeout \(self\.watchdog_timeout=(?P<hang_s>[\d.]{1,12})"
        r"(?:, self\.soft=(?P<soft>True|False))?",
        "A forward pass did not come back for {hang_s} s",
        per_rank=True,
    ),
    _COLLECTIVE,
    _PORT,
    _NCCL_MEMORY,
    _rule(
        "warmup_failed", r"^Initialization failed\. warmup error", "The server's own warm-up request failed"
    ),
    _rule(
        "oom", r"^(?:Prefill|Decode) out of memory\. Try to lower", "The KV pool is too small for the batch"
    ),
    _rule(
        "nan_logits", r"Detected errors during sampling! NaN in the logits", "NaN in the logits", fatal=False
    ),
    _rule(
        "health_check",
        r"^Health check failed\. [^\n]{0,100}for last (?P<silent_s>\d{1,9}) seconds",
        "No answer from the detokenizer for {silent_s} s",
        fatal=False,
    ),
    _rule("segfault", r"^Fatal Python error: (?P<error>[^\n]{1,100})", "The Python process crashed: {error}"),
    _rule(
        "killed",
        r"Out of memory: Killed process (?P<pid>\d{1,10})|oom-kill:|Memory cgroup out of memory",
        "The kernel killed a process: host memory ran out",
    ),
    _rule(
        "nccl",
        r"^terminate called after throwing an instance of '(?P<error>[^']{1,100})'",
        "Native code gave up: {error}",
        consequence=True,
    ),
    _rule(
        "subprocess_crashed",
        r"^Subprocess (?P<process>\S{1,60}) \(pid=(?P<pid>\d{1,10})\) crashed with exit code "
        r"(?P<exit_code>-?\d{1,5})",
        "The process {process} died with exit code {exit_code}",
        consequence=True,
    ),
    _rule(
        "subprocess_crashed",
        r"^Rank (?P<dead_rank>\d{1,6}) scheduler (?:is dead|died)",
        "The scheduler of rank {dead_rank} died",
        consequence=True,
    ),
    _rule(
        "sigquit",
        r"^Received sigquit from a child proc|^SIGQUIT received\.",
        "A child process of the server failed",
        consequence=True,
    ),
    _rule(
        "killed",
        r"^Killed$|^(?:\S{1,100}: line \d{1,6}: +)?\d{1,10} (?:Killed|Aborted|Segmentation fault)\b",
        "The server was killed",
        consequence=True,
    ),
)
#: A cheap test that lines about no failure fail.
LINE_HINT = re.compile(
    r"atchdog|\[Errno 98\]|in use|used by a process|Failed to CUDA|warmup error|out of memory|NaN in|"
    r"Health check failed|^Fatal Python|oom-kill|^terminate called|^Subprocess |^Rank \d|igquit|SIGQUIT|"
    r"Killed|Aborted|Segmentation fault"
)


def matching(rules: tuple[Rule, ...], text: str, frames: str = "") -> tuple[Rule, re.Match[str]] | None:
    """The first rule that the text (and, where it asks for it, the frames) satisfies."""
    text = text[:_MAX_TEXT]
    for rule in rules:
        found = rule.pattern.search(text)
        if found is not None and (rule.where is None or rule.where.search(frames)):
            return rule, found
    return None

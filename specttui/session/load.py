"""The load driver: a fixed set of prompts at a set concurrency, sent from the host to its own server.

Requests travel only over the host's loopback: one small script (`load_client.py`) runs there and streams
its measurements back through the connection, so no port is forwarded and the network between us and the
host is in no figure. What it measures is what a client on the host sees; it is not comparable with the
server's own steady decode rate.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from importlib import resources
from statistics import median
from typing import Any

from specttui.errors import RemoteCommandError, SpecttuiError, UsageError
from specttui.events import LoadFinished, LoadProgressed, LoadStarted
from specttui.host.remote import Remote
from specttui.session.load_client import MARK
from specttui.session.load_prompts import BUNDLED, bundled_prompts

#: Receives the load's events as they happen.
Emit = Callable[[LoadStarted | LoadProgressed | LoadFinished], None]

_PROGRESS_S = 0.25
_NOISE_LINES = 12
#: Puts stdin into a private file and names it, then names the first Python 3 among the arguments.
_UPLOAD = (
    'umask 077; file=$(mktemp "${TMPDIR:-/tmp}/specttui-load.XXXXXX") && cat >"$file" && '
    'printf "%s\\n" "$file" && for python in "$@"; do if "$python" -c "import http.client" 2>/dev/null; '
    'then printf "%s\\n" "$python"; break; fi; done'
)


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """What to send where.

    `host` and `port` are the server's as seen on the remote machine; `api_key` goes there through
    standard input into a file only its owner can read. `interpreter` is tried before `python3`.
    `request_timeout_s` is how long a request may be silent.
    """

    concurrency: int
    requests: int
    max_new_tokens: int
    port: int
    host: str = "127.0.0.1"
    tls: bool = False
    api_key: str = field(default="", repr=False)
    interpreter: str = ""
    prompts: tuple[str, ...] = field(default_factory=bundled_prompts, repr=False)
    prompts_name: str = BUNDLED
    request_timeout_s: float = 300.0

    def check(self) -> None:
        """Refuse what cannot be sent.

        Raises:
            UsageError: A count is below 1, or there is no prompt.
        """
        counts = {
            "concurrency": self.concurrency,
            "number of requests": self.requests,
            "number of tokens": self.max_new_tokens,
            "number of prompts": len(self.prompts),
        }
        for name, count in counts.items():
            if count < 1:
                raise UsageError(f"The load's {name} must be at least 1, not {count}")


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """One request as its client saw it. Times in ms; `accept_len` is tokens per verify step."""

    ttft_ms: float
    tpot_ms: float | None
    latency_ms: float
    tokens: int
    prompt_tokens: int | None = None
    verify_count: int | None = None

    @property
    def tok_s(self) -> float:
        """Tokens per second over the whole request, prefill included."""
        return 1000.0 * self.tokens / self.latency_ms if self.latency_ms else 0.0

    @property
    def accept_len(self) -> float | None:
        """completion_tokens / spec_verify_ct, as every SGLang release counts it; None without speculation."""
        return self.tokens / self.verify_count if self.verify_count else None


@dataclass(frozen=True, slots=True)
class LoadResult:
    """A load that ran to its end: its last event and every request that succeeded."""

    finished: LoadFinished
    requests: tuple[RequestRecord, ...]


async def run_load(remote: Remote, plan: LoadPlan, emit: Emit, *, load_id: int) -> LoadResult:
    """Send a load and measure it; cancelling the task ends it on the host too.

    Args:
        remote: The machine the server runs on.
        plan: What to send.
        emit: Gets `LoadStarted`, some `LoadProgressed`, and always one `LoadFinished`, whose `error` says
            in words what went wrong, for some requests or for all.
        load_id: The number of this load in the session.

    Returns:
        The figures. A load whose requests failed returns too: look at `finished.error`.

    Raises:
        UsageError: The plan cannot be sent.
        ConnectionLostError: The connection broke; `LoadFinished` was emitted.
    """
    plan.check()
    emit(
        LoadStarted(
            load_id=load_id,
            concurrency=plan.concurrency,
            requests=plan.requests,
            max_new_tokens=plan.max_new_tokens,
            prompts=plan.prompts_name,
        )
    )
    tally = _Tally(plan, load_id, emit)
    try:
        await _drive(remote, plan, tally)
    except RemoteCommandError as error:
        tally.stopped = f"{error.title}. {error.cause}".strip()
    except asyncio.CancelledError:
        tally.stopped = "Cancelled"
        raise
    except SpecttuiError as error:
        tally.stopped = error.title
        raise
    finally:
        finished = tally.finish()
        emit(finished)
    return LoadResult(finished, tuple(tally.requests))


class _Tally:
    """Counts what the script reports."""

    def __init__(self, plan: LoadPlan, load_id: int, emit: Emit) -> None:
        self.plan = plan
        self.load_id = load_id
        self.emit = emit
        self.requests: list[RequestRecord] = []
        self.failures: list[str] = []
        self.stopped = ""
        self.elapsed_s: float | None = None
        self.noise: deque[str] = deque(maxlen=_NOISE_LINES)
        self._started = time.monotonic()
        self._reported = self._started

    def take(self, line: bytes) -> None:
        """One line of the script's output."""
        text = line.decode("utf-8", "replace").strip()
        if not text.startswith(MARK):
            if text:
                self.noise.append(text)
            return
        try:
            record: dict[str, Any] = json.loads(text[len(MARK) :])
        except ValueError:  # the stream was cut inside a line
            return
        kind = record.pop("kind")
        if kind == "request":
            self.requests.append(RequestRecord(**record))
        elif kind == "failed":
            self.failures.append(record["message"])
        elif kind == "finished":
            self.elapsed_s = record["elapsed_s"]
        if kind in {"request", "failed"}:
            self._progress()

    def finish(self) -> LoadFinished:
        """The figures of the whole load."""
        tokens = sum(request.tokens for request in self.requests)
        elapsed_s = self.elapsed_s if self.elapsed_s is not None else time.monotonic() - self._started
        tpot = [request.tpot_ms for request in self.requests if request.tpot_ms is not None]
        counted = [request for request in self.requests if request.verify_count]
        cycles = sum(request.verify_count or 0 for request in counted)
        return LoadFinished(
            load_id=self.load_id,
            concurrency=self.plan.concurrency,
            done=len(self.requests),
            failed=len(self.failures),
            elapsed_s=elapsed_s,
            client_tok_s=tokens / elapsed_s if tokens and elapsed_s > 0 else None,
            median_ttft_ms=median(r.ttft_ms for r in self.requests) if self.requests else None,
            median_tpot_ms=median(tpot) if tpot else None,
            mean_accept_length=sum(r.tokens for r in counted) / cycles if cycles else None,
            error=self._error(),
        )

    def _progress(self) -> None:
        now = time.monotonic()
        ended = len(self.requests) + len(self.failures)
        if now - self._reported < _PROGRESS_S and ended < self.plan.requests:
            return
        self._reported = now
        self.emit(LoadProgressed(load_id=self.load_id, done=len(self.requests), failed=len(self.failures)))

    def _error(self) -> str:
        if self.stopped:
            return self.stopped
        if self.failures:
            sent = len(self.requests) + len(self.failures)
            unsent = f" ({self.plan.requests - sent} were not sent)" if sent < self.plan.requests else ""
            return f"{len(self.failures)} of {sent} requests failed{unsent}: {self.failures[0]}"
        if self.elapsed_s is None:
            return f"The load script on the host ended early. {' '.join(self.noise)}".strip()
        return ""


async def _drive(remote: Remote, plan: LoadPlan, tally: _Tally) -> None:
    """Send the script, read what it writes, and leave nothing behind."""
    candidates = [name for name in (plan.interpreter, "python3", "python") if name]
    upload = ["/bin/sh", "-c", _UPLOAD, "specttui-load", *candidates]
    result = await remote.run(upload, stdin=_script(plan).encode(), check=True)
    path, *interpreters = result.text.splitlines() or [""]
    try:
        if not path or not interpreters:
            raise RemoteCommandError(
                f"The load needs Python 3 on {remote.name}", cause=f"None of {', '.join(candidates)} is one."
            )
        async with remote.stream([interpreters[0], path]) as output:
            async for line in _lines(output):
                tally.take(line)
    finally:
        if path:
            with contextlib.suppress(SpecttuiError):  # the script removed it; this is for one that never ran
                await remote.run(["rm", "-f", path])


def _script(plan: LoadPlan) -> str:
    """The client's source with its job as the last line."""
    source = resources.files("specttui.session").joinpath("load_client.py").read_text("utf-8")
    job = {
        "host": plan.host,
        "port": plan.port,
        "tls": plan.tls,
        "api_key": plan.api_key,
        "concurrency": plan.concurrency,
        "requests": plan.requests,
        "max_new_tokens": plan.max_new_tokens,
        "timeout_s": plan.request_timeout_s,
        "prompts": plan.prompts,
    }
    return f"{source}\n\nmain({json.dumps(job)!r})\n"


async def _lines(output: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    rest = b""
    async for chunk in output:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line
    if rest:
        yield rest

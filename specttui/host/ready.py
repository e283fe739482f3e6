"""Wait until a server that we started is ready, or say why it is not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from specttui.events import Launch, LogKind, ServerProgress, ServerReady
from specttui.host.gpus import sample_gpus
from specttui.host.hang import HangWatch
from specttui.host.readiness import DEFAULT_READY_LIMITS, Readiness, ReadyLimits, StartFailedError
from specttui.host.remote import Remote
from specttui.host.remote_python import run_program
from specttui.host.runner import Runner
from specttui.host.start import Started
from specttui.launch.argv import parse
from specttui.launch.settings import Config, server_host, server_port
from specttui.log.text import safe_lines

OnProgress = Callable[[ServerProgress], None]
_LAST_LINES = 30
_WORD_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a server will answer, and the key it wants. Never put one into an event."""

    host: str = "127.0.0.1"
    port: int = 30000
    tls: bool = False
    api_key: str = ""


def endpoint_of(launch: Launch, config: Config | None = None) -> Endpoint:
    """Where a launch's server will answer.

    Args:
        launch: The full launch, secrets included.
        config: The values of its `--config` file.

    Raises:
        LaunchError: The command line cannot be read.
    """
    command = parse(launch.argv)
    return Endpoint(
        host=server_host(launch, config),
        port=server_port(launch, config),
        tls=command.has("--ssl-certfile"),
        api_key=command.value("--api-key") or "",
    )


async def wait_ready(
    remote: Remote,
    started: Started,
    endpoint: Endpoint,
    readiness: Readiness,
    on_step: OnProgress,
    *,
    limits: ReadyLimits = DEFAULT_READY_LIMITS,
    closer: Runner | None = None,
) -> ServerReady:
    """Wait until the server serves: its ready line was seen, it listens itself, and it answers.

    All three are needed: on a port clash SGLang logs its ready line all the same, and the other server
    answers.

    Args:
        remote: The host.
        started: The server.
        endpoint: Where it will answer.
        readiness: Told of the ready line and of progress by whoever reads the log.
        on_step: Called now and then while the server is silent.
        limits: How long to wait.
        closer: What has the rights of the server's user, where the account has not.

    Returns:
        The event that says so; emitting it is the caller's.

    Raises:
        StartFailedError: It ended, its port is taken, it hangs, or a limit is over. In all but the first case
            its processes still run.
        ConnectionLostError: The connection broke; the server goes on, and waiting can be taken up again.
    """
    silence = _Silence(remote, readiness, on_step, limits)
    while True:
        seen = await _look(remote, closer, _parameters(started, endpoint))
        _check_alive(seen, started)
        _check_port(seen, endpoint)
        if seen["listens"] and seen["answers"] and readiness.ready_line_seen:
            return ServerReady(pid=started.pid, elapsed_s=readiness.elapsed_s)
        await silence.look(seen["log_size"])
        readiness.check(limits)
        await asyncio.sleep(limits.poll_s)


async def wait_alive(
    remote: Remote,
    started: Started,
    readiness: Readiness,
    on_step: OnProgress,
    until: asyncio.Event,
    *,
    limits: ReadyLimits = DEFAULT_READY_LIMITS,
    closer: Runner | None = None,
) -> ServerReady:
    """Look after a node that answers no clients until the node that does is ready.

    A node other than the first prints no ready line, and whether it listens depends on the release.

    Args:
        remote: The node's host.
        started: The node.
        readiness: Told of progress on any node by whoever reads the logs.
        on_step: Called now and then while all are silent.
        until: Set when the server answers.
        limits: How long to wait.
        closer: What has the rights of the node's user, where the account has not.

    Raises:
        StartFailedError: It ended, it hangs, or a limit is over.
        ConnectionLostError: The connection broke; the node goes on.
    """
    silence = _Silence(remote, readiness, on_step, limits)
    while not until.is_set():
        seen = await _look(remote, closer, _parameters(started, Endpoint(port=0)))
        _check_alive(seen, started)
        await silence.look(seen["log_size"])
        readiness.check(limits)
        with suppress(TimeoutError):
            await asyncio.wait_for(until.wait(), limits.poll_s)
    return ServerReady(pid=started.pid, elapsed_s=readiness.elapsed_s)


async def _look(remote: Remote, closer: Runner | None, parameters: dict[str, Any]) -> dict[str, Any]:
    """Look at the server; with its user's rights only where that tells more, since sudo logs each use."""
    trusting = parameters | {"trust_user": closer is None}
    seen: dict[str, Any] = await run_program(remote, "watch_start", trusting)
    if closer is not None and (not seen["alive"] or (seen["others"] and not seen["listens"])):
        seen = await run_program(closer, "watch_start", parameters)
    return seen


def _parameters(started: Started, endpoint: Endpoint) -> dict[str, Any]:
    return {
        "pid": started.pid,
        "start_ticks": started.start_ticks,
        "exit_path": started.exit_path,
        "log_path": started.log_path,
        "log_offset": started.log_offset,
        "host": endpoint.host,
        "port": endpoint.port,
        "tls": endpoint.tls,
        "api_key": endpoint.api_key,
    }


def _check_alive(seen: dict[str, Any], started: Started) -> None:
    if seen["alive"]:
        return
    status = seen["exit_status"]
    lines = tuple(line for line in safe_lines(seen["last_text"]) if line.strip())[-_LAST_LINES:]
    known = "" if status is None else f" (exit status {status})"
    raise StartFailedError(
        f"The server ended while starting{known}",
        category="exited",
        cause="\n".join(lines),
        remedy=f"See {_log_in_words(started)}; go back to the last good configuration.",
        exit_status=status,
        last_lines=lines,
    )


def _log_in_words(started: Started) -> str:
    source, _ = started.log
    commands = {LogKind.JOURNAL: "journalctl -u {}", LogKind.DOCKER: "docker logs {}"}
    if source.kind in commands and source.path:
        return f"`{commands[source.kind].format(source.path)}`"
    return f"its log {source.path}" if source.path else "the log above"


def _check_port(seen: dict[str, Any], endpoint: Endpoint) -> None:
    """Recognise another server on our port, whose answers would pass for ours."""
    if seen["listens"] or not seen["others"]:
        return
    other = seen["others"][0]
    holder = f"process {other['pid']} ({other['title']})" if other["pid"] else "a process of another user"
    raise StartFailedError(
        f"Port {endpoint.port} is taken",
        category="port_in_use",
        cause=f"It is held by {holder}, so this server can never listen on it.",
        remedy="End that process, or restart with another --port.",
    )


class _Silence:
    """What is done while a server says nothing: a word to the user, and a look at the GPUs."""

    def __init__(
        self, remote: Remote, readiness: Readiness, on_step: OnProgress, limits: ReadyLimits
    ) -> None:
        self._remote = remote
        self._readiness = readiness
        self._on_step = on_step
        self._limits = limits
        self._watch = HangWatch()
        self._log_size = -1
        self._silent_s = 0.0
        self._next_s = limits.word_s

    async def look(self, log_size: int) -> None:
        """Take a growing log for progress; look closer when there is none.

        Raises:
            StartFailedError: The server hangs.
        """
        if log_size != self._log_size:
            self._log_size = log_size
            self._readiness.saw_progress()
        silent_s = self._readiness.silent_s
        if silent_s < self._silent_s:  # a log that is no file speaks through whoever reads it
            self._watch.reset()
            self._next_s = self._limits.word_s
        self._silent_s = silent_s
        if silent_s >= self._next_s:
            self._next_s = silent_s + self._limits.word_s
            self._on_step(
                ServerProgress(phase="silent", detail=self._word(), elapsed_s=self._readiness.elapsed_s)
            )
            await self._look_for_hang()

    def _word(self) -> str:
        line = self._readiness.last_line
        words = f"last output {self._readiness.silent_s:.0f} s ago, the process lives"
        return f"{words}: {line[:_WORD_CHARACTERS]}" if line else words

    async def _look_for_hang(self) -> None:
        hung_s = self._watch.hung_for_s(await sample_gpus(self._remote), self._readiness.elapsed_s)
        if self._limits.hang_s is not None and hung_s >= self._limits.hang_s + self._readiness.extra_s:
            raise StartFailedError(
                "The server looks deadlocked",
                category="hung",
                cause=f"No output; the GPUs are busy, their memory unchanged, for {hung_s:.0f} s.",
                remedy="Go back to the last good environment; if NCCL settings changed, undo them "
                "(NCCL_P2P_DISABLE=1 helps where peer-to-peer is broken).",
            )

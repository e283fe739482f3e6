# ruff: noqa: ASYNC110, ASYNC240 - the files and programs of a test are small and local
"""Ready means: the line was seen, it answers, and it is our own process that listens."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from support.fake_nvidia_smi import write_nvidia_smi
from support.fake_sglang import READY, alive, below, free_port, launch_argv, start_fake, write_package
from support.local_remote import LocalRemote

from specttui.events import Launch, ServerProgress
from specttui.host.readiness import Readiness, ReadyLimits, StartFailedError
from specttui.host.ready import Endpoint, endpoint_of, wait_ready
from specttui.host.start import Started, start
from specttui.host.stop import StopLimits, stop

FAST = ReadyLimits(total_s=120.0, silence_s=120.0, hang_s=None, poll_s=0.05, word_s=60.0)


@pytest.fixture
def remote(tmp_path: Path) -> LocalRemote:
    return LocalRemote(tmp_path)


@asynccontextmanager
async def starting(
    remote: LocalRemote, folder: Path, *flags: str, port: int = 0, **fake: str
) -> AsyncIterator[tuple[Started, Launch]]:
    """Start a fake server through the product, and stop it in the end."""
    packages = folder / "packages"
    if not packages.exists():
        write_package(packages)
    env = (
        dict(os.environ)
        | {"PYTHONPATH": str(packages)}
        | {f"FAKE_{name}": value for name, value in fake.items()}
    )
    launch = Launch(argv=tuple(launch_argv(port or free_port(), *flags)), env=env, cwd=str(folder))
    started = await start(remote, launch, "s1", lambda _: None)
    try:
        yield started, launch
    finally:
        await stop(remote, started, lambda _: None, limits=StopLimits(10, 10, 10, 1))


@asynccontextmanager
async def reading_log(started: Started, readiness: Readiness) -> AsyncIterator[None]:
    """What the session does meanwhile: read the log and tell of the ready line."""

    async def read() -> None:
        while READY not in Path(started.log_path).read_text():
            await asyncio.sleep(0.02)
        readiness.saw_ready_line()

    task = asyncio.create_task(read())
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def test_ready_when_line_answer_and_listener_agree(remote: LocalRemote, tmp_path: Path) -> None:
    async with starting(remote, tmp_path, "--api-key", "sk-secret", LOAD_S="0.5") as (started, launch):
        readiness = Readiness()
        async with reading_log(started, readiness):
            ready = await wait_ready(
                remote, started, endpoint_of(launch), readiness, lambda _: None, limits=FAST
            )
        assert ready.pid == started.pid
        assert ready.elapsed_s is not None
        assert not any("sk-secret" in word for command in remote.commands for word in command)


async def test_not_ready_without_the_line(remote: LocalRemote, tmp_path: Path) -> None:
    async with starting(remote, tmp_path) as (started, launch):
        readiness = Readiness()
        task = asyncio.create_task(
            wait_ready(remote, started, endpoint_of(launch), readiness, lambda _: None, limits=FAST)
        )
        while READY not in Path(started.log_path).read_text():
            await asyncio.sleep(0.02)
        await asyncio.sleep(1.0)
        assert not task.done()
        readiness.saw_ready_line()
        assert (await task).pid == started.pid


async def test_a_port_clash_is_no_readiness_although_line_and_answer_are_there(
    remote: LocalRemote, tmp_path: Path
) -> None:
    other = start_fake(tmp_path)
    try:
        async with starting(remote, tmp_path, port=other.port, LINGER_S="600") as (started, launch):
            readiness = Readiness()
            readiness.saw_ready_line()
            with pytest.raises(StartFailedError) as caught:
                await wait_ready(remote, started, endpoint_of(launch), readiness, lambda _: None, limits=FAST)
        assert caught.value.category == "port_in_use"
        assert caught.value.title == f"Port {other.port} is taken"
        assert f"process {other.pid} " in caught.value.cause
    finally:
        other.kill()


async def test_death_while_loading_gives_status_and_last_lines(remote: LocalRemote, tmp_path: Path) -> None:
    async with starting(remote, tmp_path, DIE="1", LOAD_S="0.3") as (started, launch):
        with pytest.raises(StartFailedError) as caught:
            await wait_ready(remote, started, endpoint_of(launch), Readiness(), lambda _: None, limits=FAST)
    assert caught.value.category == "exited"
    assert caught.value.exit_status == 1
    assert caught.value.last_lines[-1] == "[2026-11-29 12:00:00] torch.OutOfMemoryError: CUDA out of memory."


async def test_a_bad_flag_ends_with_its_usage(remote: LocalRemote, tmp_path: Path) -> None:
    async with starting(remote, tmp_path, "--no-such-flag") as (started, launch):
        with pytest.raises(StartFailedError) as caught:
            await wait_ready(remote, started, endpoint_of(launch), Readiness(), lambda _: None, limits=FAST)
    assert caught.value.exit_status == 2
    assert caught.value.last_lines[-1] == "sglang serve: error: unrecognized arguments: --no-such-flag"


async def test_a_kill_shows_as_a_signal(remote: LocalRemote, tmp_path: Path) -> None:
    async with starting(remote, tmp_path, LOAD_S="600") as (started, launch):
        os.kill(started.pid, 9)
        with pytest.raises(StartFailedError) as caught:
            await wait_ready(remote, started, endpoint_of(launch), Readiness(), lambda _: None, limits=FAST)
    assert caught.value.exit_status == -9


async def test_waiting_can_be_cancelled(remote: LocalRemote, tmp_path: Path) -> None:
    async with starting(remote, tmp_path, LOAD_S="600") as (started, launch):
        task = asyncio.create_task(
            wait_ready(remote, started, endpoint_of(launch), Readiness(), lambda _: None, limits=FAST)
        )
        await asyncio.sleep(0.5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_silence_is_told_and_is_no_failure_by_itself(remote: LocalRemote, tmp_path: Path) -> None:
    words: list[ServerProgress] = []
    limits = ReadyLimits(total_s=60.0, silence_s=60.0, hang_s=None, poll_s=0.05, word_s=0.3)
    async with starting(remote, tmp_path, LOAD_S="600") as (started, launch):
        task = asyncio.create_task(
            wait_ready(remote, started, endpoint_of(launch), Readiness(), words.append, limits=limits)
        )
        async with asyncio.timeout(60):
            while len(words) < 2:
                await asyncio.sleep(0.02)
        task.cancel()
    assert {word.phase for word in words} == {"silent"}
    assert words[0].detail.startswith("last output ")
    assert words[0].detail.endswith(" s ago, the process lives")


async def test_a_silent_servers_last_line_is_told(remote: LocalRemote, tmp_path: Path) -> None:
    words: list[ServerProgress] = []
    limits = ReadyLimits(total_s=60.0, silence_s=60.0, hang_s=None, poll_s=0.05, word_s=0.3)
    readiness = Readiness()
    readiness.last_line = "Loading safetensors checkpoint shards: 100% Completed | 163/163"
    async with starting(remote, tmp_path, LOAD_S="600") as (started, launch):
        task = asyncio.create_task(
            wait_ready(remote, started, endpoint_of(launch), readiness, words.append, limits=limits)
        )
        async with asyncio.timeout(60):
            while not words:
                await asyncio.sleep(0.02)
        task.cancel()
    assert words[0].detail.endswith(f"the process lives: {readiness.last_line}")


async def test_more_time_moves_the_hang_limit_too(tmp_path: Path) -> None:
    smi = write_nvidia_smi(tmp_path / "bin", used_mib=[40000], utilisation="100")
    remote = LocalRemote(tmp_path, env={"PATH": f"{smi.parent}:{os.environ['PATH']}"})
    limits = ReadyLimits(total_s=60.0, silence_s=60.0, hang_s=0.2, poll_s=0.05, word_s=0.1)
    readiness = Readiness()
    readiness.extend(600.0)
    words: list[ServerProgress] = []
    async with starting(remote, tmp_path, LOAD_S="600") as (started, launch):
        task = asyncio.create_task(
            wait_ready(remote, started, endpoint_of(launch), readiness, words.append, limits=limits)
        )
        async with asyncio.timeout(60):
            while len(words) < 12:
                await asyncio.sleep(0.02)
        assert not task.done()
        task.cancel()


async def test_busy_gpus_with_flat_memory_are_a_deadlock(tmp_path: Path) -> None:
    smi = write_nvidia_smi(tmp_path / "bin", used_mib=[40000], utilisation="100")
    remote = LocalRemote(tmp_path, env={"PATH": f"{smi.parent}:{os.environ['PATH']}"})
    limits = ReadyLimits(total_s=60.0, silence_s=60.0, hang_s=0.5, poll_s=0.05, word_s=0.2)
    async with starting(remote, tmp_path, LOAD_S="600") as (started, launch):
        with pytest.raises(StartFailedError) as caught:
            await wait_ready(remote, started, endpoint_of(launch), Readiness(), lambda _: None, limits=limits)
    assert caught.value.category == "hung"


async def test_workers_left_by_a_failed_start_are_ended_too(remote: LocalRemote, tmp_path: Path) -> None:
    async with starting(remote, tmp_path, LOAD_S="600", STUBBORN="1", ORPHANS="1") as (started, _):
        async with asyncio.timeout(60):
            while len(workers := below(started.pid)) < 2:
                await asyncio.sleep(0.02)
        os.kill(started.pid, 9)
    assert [alive(pid) for pid in workers] == [False, False]


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.mark.parametrize(
    ("act", "category"),
    [
        (lambda readiness: None, "silent"),
        (lambda readiness: readiness.saw_progress(), "too_long"),
        (lambda readiness: readiness.extend(1000.0), ""),
    ],
)
def test_limits_count_from_the_last_progress(act: Callable[[Readiness], None], category: str) -> None:
    clock = Clock()
    readiness = Readiness(clock)
    clock.now_s = 150.0
    act(readiness)
    limits = ReadyLimits(total_s=140.0, silence_s=100.0)
    if not category:
        readiness.check(limits)
        return
    with pytest.raises(StartFailedError) as caught:
        readiness.check(limits)
    assert caught.value.category == category


def test_the_endpoint_of_a_launch() -> None:
    launch = Launch(
        argv=("python", "-m", "sglang.launch_server", "--port=1234", "--host", "0.0.0.0", "--api-key", "k",
              "--ssl-certfile", "c.pem")
    )  # fmt: skip
    assert endpoint_of(launch) == Endpoint(host="0.0.0.0", port=1234, tls=True, api_key="k")

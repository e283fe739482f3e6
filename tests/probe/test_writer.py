"""The writer: whole lines, never waiting, whatever stdout is."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.fake_workers import EAGLE_V1

from specttui.probe import apply
from specttui.probe.block.writer import _SpecttuiWriter

#: Runs a patched worker in a process of its own, with whatever stdout the test gives it.
DRIVER = """
import sys, types, os, time
sys.path[:0] = {paths!r}
from support.fake_workers import Batch, load_worker
source = open({worker!r}, "rb").read()
loaded = load_worker(source, "EAGLEWorker", lambda name: None)
for index in range({cycles}):
    loaded.run(Batch([2, 1]))
probe = loaded.namespace["_specttui_probe"]
probe.drain()
probe.write()
sys.stderr.write("dropped %d dead %s\\n" % (probe.figures.dropped_cycles, probe.dead))
{after}
"""


def driver(folder: Path, cycles: int = 30, after: str = "") -> list[str]:
    """Command line of a process that runs cycles of a patched worker."""
    worker = folder / "worker.py"
    worker.write_bytes(apply(EAGLE_V1.encode(), session_id="s", utc="u"))
    paths = [entry for entry in sys.path if entry]
    script = folder / "driver.py"
    script.write_text(DRIVER.format(paths=paths, worker=str(worker), cycles=cycles, after=after))
    return [sys.executable, str(script)]


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, int]]:
    """A pipe that is the process's stdout for the writer."""
    read, write = os.pipe()
    with os.fdopen(os.dup(write), "w") as stdout:
        monkeypatch.setattr(sys, "__stdout__", stdout)
        yield read, write
    os.close(read)
    os.close(write)


def fill(write: int) -> int:
    """Fill a pipe to the last byte; returns how many bytes it took."""
    flags = fcntl.fcntl(write, fcntl.F_GETFL)
    fcntl.fcntl(write, fcntl.F_SETFL, flags | os.O_NONBLOCK)
    taken = 0
    for size in (65536, 4096, 1):
        try:
            while True:
                taken += os.write(write, b"x" * size)
        except BlockingIOError:
            continue
    fcntl.fcntl(write, fcntl.F_SETFL, flags)
    return taken


def test_one_line_is_one_write(pipe: tuple[int, int]) -> None:
    writer = _SpecttuiWriter()
    assert writer.write("one line")
    assert os.read(pipe[0], 65536) == b"one line\n"


def test_a_full_pipe_drops_and_counts_instead_of_waiting(pipe: tuple[int, int]) -> None:
    writer = _SpecttuiWriter()
    taken = fill(pipe[1])
    assert [writer.write("lost") for _ in range(3)] == [False] * 3
    assert writer.dropped == 3
    while taken > 0:
        taken -= len(os.read(pipe[0], 65536))
    assert writer.write("seen")
    assert os.read(pipe[0], 65536) == b"seen\n"


def test_the_servers_own_descriptor_stays_blocking(pipe: tuple[int, int]) -> None:
    writer = _SpecttuiWriter()
    writer.write("line")
    assert not fcntl.fcntl(pipe[1], fcntl.F_GETFL) & os.O_NONBLOCK


def test_a_line_worth_repeating_is_written_when_there_is_room(pipe: tuple[int, int]) -> None:
    writer = _SpecttuiWriter()
    taken = fill(pipe[1])
    writer.write_surely("installed")
    while taken > 0:
        taken -= len(os.read(pipe[0], 65536))
    writer.pay()
    assert os.read(pipe[0], 65536) == b"installed\n"
    assert writer.owed == []


def test_lines_owed_do_not_grow(pipe: tuple[int, int]) -> None:
    writer = _SpecttuiWriter()
    fill(pipe[1])
    for index in range(100):
        writer.write_surely(str(index))
    assert writer.owed == [str(index) for index in range(92, 100)]


def test_a_line_that_could_be_torn_is_not_written(pipe: tuple[int, int]) -> None:
    writer = _SpecttuiWriter()
    assert writer.write("x" * 4094)
    assert not writer.write("x" * 4095)
    assert writer.dropped == 1


def test_stderr_takes_over_when_stdout_is_gone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with (tmp_path / "stderr").open("w") as stderr:
        monkeypatch.setattr(sys, "__stdout__", None)
        monkeypatch.setattr(sys, "__stderr__", stderr)
        assert _SpecttuiWriter().write("line")
    assert (tmp_path / "stderr").read_text() == "line\n"


def test_nothing_to_write_to_is_a_drop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "__stdout__", None)
    monkeypatch.setattr(sys, "__stderr__", None)
    writer = _SpecttuiWriter()
    assert not writer.write("line")
    assert writer.dropped == 1


def test_a_file_keeps_the_servers_offset(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    with log.open("w") as stdout:
        monkeypatch.setattr(sys, "__stdout__", stdout)
        writer = _SpecttuiWriter()
        os.write(stdout.fileno(), b"server 1\n")
        writer.write("probe")
        os.write(stdout.fileno(), b"server 2\n")
    assert log.read_text() == "server 1\nprobe\nserver 2\n"


def test_forked_child_opens_its_own(pipe: tuple[int, int]) -> None:
    writer = _SpecttuiWriter()
    writer.write("parent")
    opened = writer.target
    writer.pid = -2  # as a child sees it: another process's number
    writer.write("child")
    assert writer.target != opened
    assert os.read(pipe[0], 65536) == b"parent\nchild\n"


def test_process_with_closed_stdout_goes_on(tmp_path: Path) -> None:
    command = driver(tmp_path)
    script = "exec " + " ".join(command) + " >&-"
    done = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0
    assert "[specttui] " in done.stderr
    assert "dead False" in done.stderr


def test_process_whose_reader_is_gone_goes_on(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        driver(tmp_path), stdout=write, stderr=subprocess.PIPE, text=True, timeout=60, check=False
    )
    os.close(write)
    assert done.returncode == 0
    assert "dropped 29 dead False" in done.stderr


def test_process_with_a_full_pipe_does_not_hang(tmp_path: Path) -> None:
    read, write = os.pipe()
    fill(write)
    started = time.monotonic()
    done = subprocess.run(
        driver(tmp_path, cycles=300), stdout=write, stderr=subprocess.PIPE, text=True, timeout=60, check=False
    )
    os.close(write)
    os.close(read)
    assert done.returncode == 0
    assert "dropped 299 dead False" in done.stderr
    assert time.monotonic() - started < 60


def test_ranks_do_not_tear_each_others_lines(tmp_path: Path) -> None:
    command = driver(tmp_path, cycles=2000)
    read, write = os.pipe()
    ranks = [subprocess.Popen(command, stdout=write, stderr=subprocess.DEVNULL) for _ in range(4)]
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        lines = stream.read().split(b"\n")
    assert [rank.wait(timeout=60) for rank in ranks] == [0] * 4
    assert lines.pop() == b""
    assert len(lines) >= 4
    assert all(line.startswith(b'[specttui] {"kind":') and line.endswith(b"}") for line in lines)
    assert max(len(line) for line in lines) < 4096


def test_spawned_process_writes_too(tmp_path: Path) -> None:
    after = (
        "import multiprocessing\n"
        "process = multiprocessing.get_context('fork').Process(target=lambda: ("
        "[loaded.run(Batch([1])) for _ in range(30)], probe.write()))\n"
        "process.start(); process.join(); sys.exit(process.exitcode)"
    )
    done = subprocess.run(
        driver(tmp_path, after=after), capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0
    processes = {line.split('"pid":')[1].split(",")[0] for line in done.stdout.splitlines()}
    assert len(processes) == 2

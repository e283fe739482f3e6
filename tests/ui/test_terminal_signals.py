"""On SIGTERM, SIGHUP and an exception the terminal gets its modes back (case G03)."""

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PROGRAM = """
import sys
sys.path.insert(0, {tests!r})
from specttui.ui.app import SpecttuiApp
from support.scripted_session import ScriptedSession
session = ScriptedSession()
app = SpecttuiApp(session)
if {crash!r}:
    original, calls = session.snapshot, []
    def snapshot():
        calls.append(1)
        if len(calls) > 3:
            raise RuntimeError("boom")
        return original()
    session.snapshot = snapshot
app.run()
sys.exit(app.return_code)
"""
RESTORED = [b"\x1b[?1049l", b"\x1b[?1000l", b"\x1b[?1003l", b"\x1b[?2004l"]


def run_in_a_terminal(crash, ending):
    master, slave = pty.openpty()
    os.set_blocking(master, False)
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(tests=str(TESTS), crash=crash)],
        stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
        env={**os.environ, "TERM": "xterm-256color"},
    )  # fmt: skip
    os.close(slave)
    output = b""
    deadline = time.monotonic() + 60
    sent = ending is None
    while process.poll() is None and time.monotonic() < deadline:
        output += read(master)
        if not sent and b"THROUGHPUT" in output:
            process.send_signal(ending)
            sent = True
        time.sleep(0.05)
    process.kill()
    process.wait()
    output += read(master)
    os.close(master)
    return process.returncode, output


def read(master):
    """All that is there now; a terminal gives it in pieces."""
    pieces = []
    try:
        while piece := os.read(master, 1 << 16):
            pieces.append(piece)
    except OSError:
        pass
    return b"".join(pieces)


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGHUP])
def test_an_ending_signal_restores_the_modes(ending):
    status, output = run_in_a_terminal(crash=False, ending=ending)
    assert status == 128 + ending
    assert b"\x1b[?1049h" in output
    assert all(output.rfind(off) > output.rfind(off[:-1] + b"h") for off in RESTORED)


def test_an_exception_restores_the_modes():
    status, output = run_in_a_terminal(crash=True, ending=None)
    assert status == 1
    assert all(output.rfind(off) > output.rfind(off[:-1] + b"h") for off in RESTORED)

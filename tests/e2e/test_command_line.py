"""The commands that need no host, as a person types them: they print what they should, and no traceback."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from specttui import __version__
from specttui.demo.scratch import Scratch
from specttui.demo.simulated.sglang.simulation.timing import PROFILES

PROJECT = Path(__file__).resolve().parents[2]
LOG = PROJECT / "sample_logs" / "A_v2_s5.log"


def run(*arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
    """Run the program; its exit status and both outputs."""
    done = subprocess.run(
        [sys.executable, "-m", "specttui.cli", *arguments],
        input=stdin,
        capture_output=True,
        timeout=120,
        check=False,
    )
    output, complaint = done.stdout.decode(), done.stderr.decode()
    assert "Traceback" not in output + complaint
    return done.returncode, output, complaint


@pytest.fixture
def worker():
    """A worker file on this machine."""
    scratch = Scratch(PROFILES["mission"])
    scratch.fill()
    yield scratch.worker_path()
    scratch.remove()


def test_help_and_version() -> None:
    status, output, _ = run("--help")
    assert status == 0
    assert output.startswith("Usage: specttui")
    assert run("--version") == (0, f"{__version__}\n", "")


def test_log_says_what_a_saved_log_holds() -> None:
    status, output, _ = run("log", str(LOG))
    assert status == 0
    assert "accept" in output
    status, output, _ = run("log", str(LOG), "--json")
    assert status == 0
    assert json.loads(output)
    assert run("log", "-", "--json", stdin=LOG.read_bytes()) == (0, output, "")


def test_inspect_says_what_the_probe_would_hook(worker: Path) -> None:
    status, output, _ = run("inspect", str(worker))
    assert status == 0
    assert "EAGLEWorkerV2" in output
    status, output, _ = run("inspect", str(worker), "--json")
    assert status == 0
    assert json.loads(output)["worker_class"] == "EAGLEWorkerV2"


def test_sessions_has_a_hint_where_there_are_none() -> None:
    assert run("sessions") == (0, "No sessions are recorded yet. Start with: specttui demo\n", "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("log", "/no/such/file"), "specttui: /no/such/file cannot be read"),
        (("inspect", "/no/such/file"), "specttui: /no/such/file cannot be read"),
        (("export", "nothing"), "specttui: No session or recording is called 'nothing'"),
        (("replay", "nothing"), "specttui: No session or recording is called 'nothing'"),
    ],
)
def test_what_is_not_there_is_said_in_words(arguments: tuple[str, ...], words: str) -> None:
    status, output, complaint = run(*arguments)
    assert (status, output) == (1, "")
    assert complaint.startswith(words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "No host is named"),
        (("check",), "No host is named"),
        (("demo", "--profile", "nope"), 'Invalid value "nope" for --profile.'),
        (("--nonsense",), "Unknown option: --nonsense."),
    ],
)
def test_a_wrong_command_line_is_refused(arguments: tuple[str, ...], words: str) -> None:
    status, output, complaint = run(*arguments)
    assert status != 0
    assert words in output + complaint

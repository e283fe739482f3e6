"""`specttui demo` in a real terminal: what stands on it, its keys, and how it is left."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from support.processes import survivors
from support.terminal import Terminal

from specttui.ui.keys import KEYS
from specttui.ui.layout import MINIMUM_HEIGHT, MINIMUM_WIDTH

pytestmark = pytest.mark.tmux

DEMO = shlex.join([sys.executable, "-m", "specttui.cli", "demo"])
PANELS = ("THROUGHPUT", "ACCEPT LENGTH", "CYCLE", "RUNS", "LOG")
#: What each key of the footer opens; escape closes it.
DIALOGS = {
    "b": "Back up the worker file",
    "p": "Patch the worker file",
    "r": "Restart the server with other settings",
    "l": "Send load",
    "e": "Export the session",
    "n": "Goes into the recording and the report.",
    "t": "TIMELINE",
    "?": "Keys (escape closes)",
}
#: The same for those that need a probe that runs.
PROBE_DIALOGS = {
    "x": "Restore the worker file",
    "k": "Clock of the probe",
    "m": "Measure the probe's cost",
}
#: Keys of the footer that open none, or are there only while they apply.
OTHERS = {"/", "space", "f5", "q", "u", "w", "ctrl+x"}
FOOTER_KEYS = {
    {"slash": "/", "question_mark": "?"}.get(name, name)
    for name in (key.keys.partition(",")[0] for key in KEYS if key.rank is not None)
}
FILTER = "show only lines with this text"


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    """A terminal of 80 x 24 with a shell that has printed something."""
    with Terminal(80, 24, {**os.environ, "TERM": "xterm-256color"}) as terminal:
        terminal.type("echo before-$((40 + 2))")
        terminal.press("Enter")
        terminal.wait_for("before-42")
        yield terminal


class Demo:
    """The processes and the folder of the demo that runs in a terminal."""

    def __init__(self, terminal: Terminal) -> None:
        self.pids = [pid for pid in _all_pids() if _owner_chain(pid, terminal.shell_pid)]
        folders = {_variable(pid, "HOME") for pid in self.pids} - {""}
        self.folders = [Path(folder) for folder in folders if "specttui-demo-" in folder]

    def gone(self) -> bool:
        """True once no process is left and the folder is deleted."""
        return survivors(self.pids, seconds=60.0) == [] and not any(
            folder.exists() for folder in self.folders
        )


def _all_pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _owner_chain(pid: int, shell_pid: int) -> bool:
    """Whether a process is the program that the shell runs, or belongs to its demo host."""
    owner = _variable(pid, "SPECTTUI_DEMO_OWNER").partition(" ")[0]
    return shell_pid in {_parent(pid), _parent(int(owner)) if owner else 0}


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _variable(pid: int, name: str) -> str:
    try:
        words = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return ""
    found = (word.decode(errors="replace") for word in words if word.startswith(f"{name}=".encode()))
    return next(found, "=").partition("=")[2]


def _start(terminal: Terminal) -> Demo:
    """Start the demo and wait until its server decodes."""
    terminal.type(DEMO)
    terminal.press("Enter")
    terminal.wait_for(*PANELS, "1 running", "q quit")
    demo = Demo(terminal)
    assert len(demo.pids) >= 3  # the program, the server's launcher, its scheduler
    assert len(demo.folders) == 1
    return demo


def test_the_screen_stands_at_every_size(terminal: Terminal) -> None:
    _start(terminal)
    assert terminal.alternate
    small = terminal.lines
    assert len(small) == 24
    assert "specttui" in small[0]
    assert "r restart" in small[-1]
    terminal.resize(120, 40)
    large = terminal.wait_for("VERDICT", *PANELS, "b back up", "p patch", "/ log", "? help")
    assert len(large.splitlines()) == 40
    assert large.splitlines()[-1].lstrip().startswith("b back up")
    terminal.resize(MINIMUM_WIDTH, MINIMUM_HEIGHT - 1)
    terminal.wait_for("specttui needs", f"this terminal has {MINIMUM_WIDTH} x {MINIMUM_HEIGHT - 1}.")
    terminal.resize(80, 24)
    terminal.wait_for(*PANELS)
    terminal.press("q")
    terminal.wait_for("Session recorded in")


@pytest.mark.long
def test_every_key_of_the_footer_opens_its_dialog_and_escape_closes_it(terminal: Terminal) -> None:
    terminal.resize(200, 45)
    demo = _start(terminal)
    for key, words in DIALOGS.items():
        _opens_and_closes(terminal, key, words)
    terminal.press("/")
    terminal.wait_for(FILTER)
    terminal.press("Escape")
    terminal.wait_without(FILTER)
    terminal.press("Space")
    terminal.wait_for("PAUSED", "space resume")
    terminal.press("Space")
    terminal.wait_without("PAUSED")
    terminal.press("F5")
    _press_until(terminal, "p", DIALOGS["p"])  # not heard while the server is looked for
    terminal.press("y")
    terminal.wait_for("PATCHED", "x restore")
    terminal.press("r")
    terminal.wait_for(DIALOGS["r"])
    terminal.press("C-s")
    terminal.wait_for("run 2 of 2", "k clock")
    for key, words in PROBE_DIALOGS.items():
        _opens_and_closes(terminal, key, words)
    terminal.press("q")
    terminal.wait_for("The worker file on the host is patched.", "Restore and quit (x)")
    terminal.press("x")
    terminal.wait_for("Session recorded in")
    assert "still patched" not in terminal.text
    assert demo.gone()


def _press_until(terminal: Terminal, key: str, words: str) -> None:
    """Press a key again and again until these words stand on the screen."""
    for _ in range(30):
        terminal.press(key)
        with suppress(AssertionError):
            terminal.wait_for(words, seconds=2)
            return
    raise AssertionError(f"{key} was never heard:\n{terminal.text}")


def test_no_key_of_the_footer_is_forgotten_here() -> None:
    assert {*DIALOGS, *PROBE_DIALOGS, *OTHERS} == FOOTER_KEYS


def _opens_and_closes(terminal: Terminal, key: str, words: str) -> None:
    terminal.press(key)
    terminal.wait_for(words)
    terminal.press("Escape")
    terminal.wait_without(words)


def test_q_gives_the_terminal_back_and_leaves_no_process(terminal: Terminal) -> None:
    demo = _start(terminal)
    terminal.press("q")
    left = terminal.wait_for("Session recorded in")
    assert "before-42" in left
    assert "Traceback" not in left
    assert not terminal.alternate
    terminal.type("echo after-$((40 + 3))")
    terminal.press("Enter")
    terminal.wait_for("after-43")
    assert demo.gone()


def test_a_closed_window_ends_the_demo_and_all_its_processes(terminal: Terminal) -> None:
    demo = _start(terminal)
    terminal.close()
    assert demo.gone()

"""A real terminal to run the program in: a tmux server of its own, read and typed into from outside."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self

import pytest

_PATIENCE_S = 60.0
_STEP_S = 0.1
#: Variables of another terminal: a size in them outdoes the real one (xdist sets it in its workers).
_FOREIGN = {"TMUX", "COLUMNS", "LINES"}


def find_tmux() -> str:
    """The program; skips the test where it is not installed, except in CI, where that is a failure."""
    found = shutil.which("tmux")
    if found is None:
        if os.environ.get("CI") == "true":
            pytest.fail("tmux is not installed: apt-get install tmux")
        pytest.skip("tmux is not installed")
    return found


class Terminal:
    """A shell in a terminal; `with Terminal(80, 24) as terminal:`.

    Args:
        width: Columns.
        height: Rows.
        environment: The shell's environment.
    """

    def __init__(self, width: int, height: int, environment: Mapping[str, str]) -> None:
        self._folder = tempfile.mkdtemp(prefix="tmux-")  # a socket's path must be short
        self._tmux = [find_tmux(), "-S", f"{self._folder}/socket", "-f", "/dev/null"]
        self._size = width, height
        self._environment = {name: value for name, value in environment.items() if name not in _FOREIGN}

    def __enter__(self) -> Self:
        width, height = self._size
        shell = "PS1='$ ' exec /bin/sh"
        self._run("new-session", "-d", "-x", str(width), "-y", str(height), shell)
        self._run("set-option", "-g", "status", "off")
        self.resize(width, height)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the terminal's window, as a person does; what runs in it is hung up."""
        subprocess.run([*self._tmux, "kill-server"], env=self._environment, check=False, capture_output=True)
        shutil.rmtree(self._folder, ignore_errors=True)

    def resize(self, width: int, height: int) -> None:
        """Give the terminal another size."""
        self._run("resize-window", "-x", str(width), "-y", str(height))

    def type(self, text: str) -> None:
        """Type a text as it is."""
        self._run("send-keys", "-l", text)

    def press(self, *keys: str) -> None:
        """Press keys by tmux's names: Enter, Escape, F5, C-s, or a character."""
        self._run("send-keys", *keys)

    @property
    def lines(self) -> list[str]:
        """What stands on the screen, row by row."""
        return self._run("capture-pane", "-p").splitlines()

    @property
    def text(self) -> str:
        """What stands on the screen."""
        return "\n".join(self.lines)

    @property
    def alternate(self) -> bool:
        """True while a program has the screen to itself."""
        return self._run("display-message", "-p", "#{alternate_on}").strip() == "1"

    @property
    def shell_pid(self) -> int:
        """The process of the shell."""
        return int(self._run("display-message", "-p", "#{pane_pid}"))

    def wait_until(self, condition: Callable[[str], bool], seconds: float = _PATIENCE_S) -> str:
        """Wait until the screen is as it should be; gives it."""
        deadline = time.monotonic() + seconds
        while True:
            text = self.text
            if condition(text):
                return text
            assert time.monotonic() < deadline, f"it never came to that within {seconds:g} s:\n{text}"
            time.sleep(_STEP_S)

    def wait_for(self, *words: str, seconds: float = _PATIENCE_S) -> str:
        """Wait until all these words stand on the screen."""
        return self.wait_until(lambda text: all(word in text for word in words), seconds)

    def wait_without(self, word: str, seconds: float = _PATIENCE_S) -> str:
        """Wait until a word is gone from the screen."""
        return self.wait_until(lambda text: word not in text, seconds)

    def _run(self, *arguments: str) -> str:
        done = subprocess.run(
            [*self._tmux, *arguments], env=self._environment, check=True, capture_output=True, text=True
        )
        return done.stdout

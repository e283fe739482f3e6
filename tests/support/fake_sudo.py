"""A sudo on PATH whose rules the test sets, and a folder that only commands under it may write."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_SUDO = """\
#!{python} -S
import json, os, sys

folder = {folder!r}

def setting(name):
    path = os.path.join(folder, name)
    return open(path).read() if os.path.exists(path) else None

with open(os.path.join(folder, "calls"), "a") as calls:
    calls.write(json.dumps(sys.argv[1:]) + "\\n")
words, options = sys.argv[1:], []
while words and words[0].startswith("-"):
    word = words.pop(0)
    options.append(word)
    if word == "-p":
        words.pop(0)
    if word == "--":
        break

def complain(*lines):
    for line in lines:
        print(line, file=sys.stderr)
    sys.exit(1)

def line():
    read = b""
    while (byte := os.read(0, 1)) not in (b"", b"\\n"):
        read += byte
    return read.decode() if read or byte else None

refusal, password = setting("refusal"), setting("password")
if refusal is not None:
    complain(refusal)
if password is not None and not (setting("careless") and words[-1] != ":"):
    if "-n" in options:
        complain("sudo: a password is required")
    if "-S" not in options:
        complain("sudo: a terminal is required to read the password; either use the -S option to read from "
                 "standard input or configure an askpass helper", "sudo: a password is required")
    for attempt in range(3):
        given = line()
        if given is None:
            complain("sudo: no password was provided", "sudo: %d incorrect password attempt" % attempt)
        if given == password:
            break
        print("Sorry, try again.", file=sys.stderr)
    else:
        complain("sudo: 3 incorrect password attempts")
os.environ.update(AS_ROOT="1", HOME="/root")
os.environ.pop("XDG_CACHE_HOME", None)
os.execvp(words[0], words)
"""
_SHIM = """\
#!/bin/sh
if [ -z "$AS_ROOT" ]; then
  for word; do
    case $word in
      {pattern}) echo "{name}: cannot write '$word': Permission denied" >&2; exit 1 ;;
    esac
  done
fi
exec {program} "$@"
"""


@dataclass(frozen=True)
class FakeSudo:
    """The stand-in's folder of programs, and its rules."""

    folder: Path

    @property
    def env(self) -> Mapping[str, str]:
        """What commands find in their environment."""
        return {"PATH": f"{self.folder}:{os.environ['PATH']}"}

    def calls(self) -> list[list[str]]:
        """The words it was called with, each time."""
        calls = self.folder / "calls"
        return [json.loads(line) for line in calls.read_text().splitlines()] if calls.exists() else []

    def wants(self, password: str | None) -> None:
        """From now on it wants this password, or none."""
        self._set("password", password)

    def refuses(self, words: str) -> None:
        """From now on it refuses with these words."""
        self._set("refusal", words)

    def becomes_careless(self) -> None:
        """From now on it asks for its password for a command that does nothing, and for no other."""
        self._set("careless", "yes")

    def _set(self, name: str, value: str | None) -> None:
        path = self.folder / name
        if value is None:
            path.unlink(missing_ok=True)
        else:
            path.write_text(value)


def install(folder: Path, protected: Path) -> FakeSudo:
    """Set it up.

    Args:
        folder: Where its programs go.
        protected: A folder in which only commands under it may write.
    """
    folder.mkdir(parents=True)
    made = FakeSudo(folder)
    _write(folder / "sudo", _SUDO.format(python=sys.executable, folder=str(folder)))
    for name, pattern in (("dd", "of={}/*"), ("mv", "{}/*"), ("rm", "{}/*.orig")):
        shim = _SHIM.format(pattern=pattern.format(protected), name=name, program=shutil.which(name))
        _write(folder / name, shim)
    return made


def _write(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)

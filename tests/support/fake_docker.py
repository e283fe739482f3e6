"""A program on PATH that enters a container's root folder, and treats what it runs as docker does."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

_CLIENT = '''\
#!{python} -S
"""As `docker exec`: the command is not this program's child, so killing this program does not end it; only
its input ends then. Without -i it has no input at all."""
import json, os, subprocess, sys, threading

folder = {folder!r}
with open(os.path.join(folder, "calls"), "a") as calls:
    calls.write(json.dumps(sys.argv[1:]) + "\\n")
words = sys.argv[1:]
if words[:1] != ["exec"]:
    sys.exit("fakedocker: what is " + " ".join(words) + "?")
interactive = words[1] == "-i"
name, *command = words[2:] if interactive else words[1:]
root = os.path.join(folder, name)
if not os.path.isdir(root):
    print("Error response from daemon: No such container: " + name, file=sys.stderr)
    sys.exit(1)
print("fakedocker: a warning of the runtime's own", file=sys.stderr)
inside = {{"HOME": root, "PATH": os.path.join(root, "bin") + ":" + os.environ["PATH"], "CONTAINER": name,
          **{{k: v for k, v in os.environ.items() if k.startswith("SPECTTUI_DEMO_")}}}}
try:
    process = subprocess.Popen(command, stdin=subprocess.PIPE if interactive else subprocess.DEVNULL,
                               env=inside, cwd=root, start_new_session=True)
except OSError as error:
    print("OCI runtime exec failed: " + str(error), file=sys.stderr)
    sys.exit(127)

def feed():
    while data := os.read(0, 65536):
        process.stdin.write(data)
        process.stdin.flush()
    process.stdin.close()

if interactive:
    threading.Thread(target=feed, daemon=True).start()
status = process.wait()
os._exit(status if status >= 0 else 128 - status)
'''


@dataclass(frozen=True)
class FakeDocker:
    """A scratch docker with containers: folders that its commands have as home and working folder."""

    folder: Path

    @property
    def program(self) -> Path:
        """What plays `docker`."""
        return self.folder / "fakedocker"

    def calls(self) -> list[list[str]]:
        """What it was asked to do, in order."""
        calls = self.folder / "calls"
        return [json.loads(line) for line in calls.read_text().splitlines()] if calls.exists() else []

    def root(self, name: str) -> Path:
        """A container's root folder."""
        return self.folder / name

    def via(self, name: str) -> tuple[str, ...]:
        """What a profile's `via` says to enter a container."""
        return (str(self.program), "exec", "-i", name)


def install(folder: Path, *names: str) -> FakeDocker:
    """Set it up with containers of these names.

    Args:
        folder: Where it goes.
        names: The containers.
    """
    made = FakeDocker(folder)
    for name in names:
        (folder / name).mkdir(parents=True)
    made.program.write_text(_CLIENT.format(python=sys.executable, folder=str(folder)))
    made.program.chmod(0o755)
    return made

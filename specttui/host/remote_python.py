"""Run one of our programs on the host's Python: sent as text, answered as JSON between marks."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from specttui.errors import RemoteCommandError
from specttui.host import remote_scripts
from specttui.host.remote import CommandResult
from specttui.host.runner import Runner

_PACKAGE = "specttui.host.remote_scripts"

#: Finds a Python 3.6 or newer and becomes it: the one on PATH, else that of a running SGLang server. Its site
#: packages are left out: our programs use none, and their start-up files can take longer than those.
FIND_PYTHON = """\
try() { "$1" -I -S -c 'import sys; sys.exit(sys.version_info < (3, 6))' </dev/null >/dev/null 2>&1; }
for python in python3 python /usr/bin/python3 /usr/local/bin/python3 /usr/libexec/platform-python; do
  if try "$python"; then exec "$python" -I -S "$@"; fi
done
for exe in /proc/[0-9]*/exe; do
  case "$(readlink "$exe" 2>/dev/null)" in
    */python3*)
      python="$(readlink "$exe")"
      # Nobody else's program is run as root for its name.
      if { [ "$(id -u)" != 0 ] || [ -O "$python" ]; } && try "$python"; then exec "$python" -I -S "$@"; fi ;;
  esac
done
echo 'no Python 3.6 or newer was found' >&2
exit 127
"""

_LOADER = """\
import importlib.abc, importlib.machinery, sys, types
SOURCES = {sources}
PACKAGE = {package!r}
for name in ("specttui", "specttui.host", PACKAGE):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = []
sys.modules[PACKAGE].source = SOURCES.__getitem__
class Rooms(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        folder, _, room = name.rpartition(".")
        if folder == PACKAGE and room in SOURCES:
            return importlib.machinery.ModuleSpec(name, self)
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        room = module.__name__.rpartition(".")[2]
        exec(compile(SOURCES[room], "specttui/" + room + ".py", "exec"), module.__dict__)
sys.meta_path.insert(0, Rooms())
import importlib
program = importlib.import_module(PACKAGE + "." + {room!r})
"""

_IMPORT = re.compile(r"^from specttui\.host\.remote_scripts import (.+)$", re.MULTILINE)


def rooms_of(room: str) -> tuple[str, ...]:
    """The modules that a program consists of: itself and what it imports from its package."""
    found: list[str] = []
    waiting = [room]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.append(name)
            imported = _IMPORT.findall(remote_scripts.source(name))
            waiting += [word for line in imported for word in line.split(", ") if word != "source"]
    return tuple(sorted(found))


def bundle(room: str) -> str:
    """The text of a program with all its modules; when it has run, `program` is the module."""
    sources = {name: remote_scripts.source(name) for name in rooms_of(room)}
    return _LOADER.format(sources=ascii(sources), package=_PACKAGE, room=room)


async def run_program(
    remote: Runner, room: str, parameters: Mapping[str, Any] | None = None, *, timeout_s: float = 60.0
) -> Any:  # noqa: ANN401 - JSON
    """Run a program's `main(parameters)` on the host and return its JSON answer.

    The text and the parameters travel through standard input, so nothing of them shows in `ps`.

    Args:
        remote: The host.
        room: The program's module name in `remote_scripts`.
        parameters: What `main` is given; plain JSON values.
        timeout_s: Seconds until the program is given up.

    Raises:
        RemoteCommandError: There is no Python on the host, or the program failed.
        ConnectionLostError: The connection broke.
    """
    mark = secrets.token_hex(8)
    call = (
        f"import json\nanswer = program.main(json.loads({json.dumps(json.dumps(dict(parameters or {})))}))\n"
    )
    report = f"print('<{mark}>' + json.dumps(answer) + '</{mark}>')\n"
    text = (bundle(room) + call + report).encode("ascii")
    argv = ["/bin/sh", "-c", FIND_PYTHON, "specttui", "-"]
    result = await remote.run(argv, stdin=text, timeout_s=timeout_s)
    return _answer(remote, room, result, mark)


def _answer(remote: Runner, room: str, result: CommandResult, mark: str) -> Any:  # noqa: ANN401 - JSON
    found = re.search(rf"<{mark}>(.*)</{mark}>", result.text)
    if found:
        return json.loads(found[1])
    said = result.stderr.decode("utf-8", "replace").strip()[-2000:]
    if result.exit_status == 127:
        raise RemoteCommandError(
            f"There is no Python on {remote.name}",
            cause=said,
            remedy="Install Python 3.6 or newer there, or connect to where the server runs (its container).",
        )
    raise RemoteCommandError(
        f"Looking at {remote.name} failed ({room}, exit status {result.exit_status})",
        cause=said or result.text[-2000:],
        remedy="Run it again; if it stays, please report it with this text.",
    )


def streaming_argv(room: str, parameters: Mapping[str, Any]) -> Sequence[str]:
    """The command that runs a program's `main(parameters)` until its reader goes away.

    Streams have no standard input, so text and parameters are arguments here: never pass a secret.
    """
    call = f"import json\nprogram.main(json.loads({json.dumps(json.dumps(dict(parameters)))}))\n"
    return ["/bin/sh", "-c", FIND_PYTHON, "specttui", "-c", bundle(room) + call]

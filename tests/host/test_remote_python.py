"""Programs sent to the host: they run on old Pythons, alone, and their answers survive any noise."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path

import pytest
from support.local_remote import LocalRemote

from specttui.errors import RemoteCommandError
from specttui.host import remote_scripts
from specttui.host.remote import CommandResult
from specttui.host.remote_python import FIND_PYTHON, bundle, rooms_of, run_program, streaming_argv

ROOMS = sorted(
    path.name.removesuffix(".py")
    for path in resources.files(remote_scripts).iterdir()
    if path.name.endswith(".py") and path.name != "__init__.py"
)


@pytest.mark.parametrize("room", ROOMS)
def test_programs_are_python_3_6_and_use_the_standard_library_only(room: str) -> None:
    tree = ast.parse(remote_scripts.source(room), feature_version=(3, 6))
    imported = {
        (name.name if isinstance(node, ast.Import) else node.module or "")
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in node.names
    }
    outside = {name for name in imported if name.split(".")[0] not in sys.stdlib_module_names}
    assert outside <= {"specttui.host.remote_scripts", "yaml"}
    assert "__future__" not in imported  # annotations came with 3.7


@pytest.mark.parametrize("room", ROOMS)
def test_annotations_that_old_pythons_cannot_evaluate_are_quoted(room: str) -> None:
    tree = ast.parse(remote_scripts.source(room))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    notes = [node.returns for node in functions] + [
        argument.annotation for node in functions for argument in (*node.args.args, *node.args.kwonlyargs)
    ]
    modern = [note for note in notes if isinstance(note, ast.Subscript | ast.BinOp)]
    assert modern == []


def test_a_bundle_holds_what_the_program_needs_and_nothing_else() -> None:
    assert rooms_of("follow_file") == ("follow_file", "frames")
    assert rooms_of("stop_tree") == ("launchers", "procfs", "sockets", "stop_tree")


def test_a_bundle_runs_without_specttui(tmp_path: Path) -> None:
    text = bundle("stop_tree") + "print(program.__name__, sorted(m for m in sys.modules if 'specttui' in m))"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", text], capture_output=True, check=True, cwd=tmp_path
    )
    package = "specttui.host.remote_scripts"
    rooms = [f"{package}.{room}" for room in ("launchers", "procfs", "sockets", "stop_tree")]
    expected = ["specttui", "specttui.host", package, *rooms]
    assert done.stdout.decode() == f"{package}.stop_tree {expected}\n"


class Scripted:
    """A host that answers every command with the same output, noise around it."""

    name = "gpu-host"

    def __init__(self, exit_status: int, stdout: str = "", stderr: str = "") -> None:
        self.answer = (exit_status, stdout, stderr)
        self.stdin = b""

    async def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        timeout_s: float = 30.0,
        check: bool = False,
    ) -> CommandResult:
        self.stdin = stdin
        status, stdout, stderr = self.answer
        mark = stdin.decode().partition("print('<")[2].partition(">")[0]
        return CommandResult(tuple(argv), status, stdout.replace("MARK", mark).encode(), stderr.encode())

    def stream(self, argv: Sequence[str], *, env: Mapping[str, str] | None = None) -> None:
        raise NotImplementedError


async def test_the_answer_is_found_among_noise() -> None:
    host = Scripted(0, 'welcome\n<0000>{}</0000>\n<MARK>{"a": 1}</MARK>\nbye\n')
    assert await run_program(host, "stop_tree") == {"a": 1}  # type: ignore[arg-type]


async def test_no_python_on_the_host() -> None:
    host = Scripted(127, stderr="no Python 3.6 or newer was found\n")
    with pytest.raises(RemoteCommandError) as caught:
        await run_program(host, "stop_tree")  # type: ignore[arg-type]
    assert caught.value.title == "There is no Python on gpu-host"
    assert caught.value.remedy.startswith("Install Python 3.6 or newer there")


async def test_a_program_that_fails_shows_its_error(tmp_path: Path) -> None:
    with pytest.raises(RemoteCommandError) as caught:
        await run_program(LocalRemote(tmp_path), "stop_tree", {})
    assert caught.value.title == "Looking at local failed (stop_tree, exit status 1)"
    assert caught.value.cause.endswith("KeyError: 'known'")


async def test_any_parameters_arrive(tmp_path: Path) -> None:
    odd = "é😀\"'\\\n\u2028\x00"
    found = await run_program(
        LocalRemote(tmp_path),
        "stop_tree",
        {
            "known": [[1 << 22, 0]],
            "sessions": [],
            "signal": "",
            "everyone": False,
            "wait_s": 0,
            "ports": [],
            "x": odd,
        },
    )
    assert found["alive"] == []


def test_python_is_taken_from_a_running_process_when_path_has_none(tmp_path: Path) -> None:
    """The last resort: a host where only the server's own environment has a Python."""
    script = FIND_PYTHON.replace("for python in python3", "for python in no-such-python").replace(
        " python /usr/bin/python3 /usr/local/bin/python3 /usr/libexec/platform-python", ""
    )
    done = subprocess.run(
        ["/bin/sh", "-c", script, "specttui", "-c", "print('found')"],
        capture_output=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.stdout == b"found\n"


def test_streams_carry_their_parameters_as_arguments() -> None:
    argv = streaming_argv("follow_file", {"mark": "abc"})
    assert list(argv[:5]) == ["/bin/sh", "-c", FIND_PYTHON, "specttui", "-c"]
    assert argv[5].endswith('program.main(json.loads("{\\"mark\\": \\"abc\\"}"))\n')

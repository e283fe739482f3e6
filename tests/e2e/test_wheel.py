"""What is installed from the wheel is whole: the styles, the demo's server, the scripts for the host."""

from __future__ import annotations

import os
import subprocess
import zipfile
from pathlib import Path

import pytest
from support.built_wheel import PROJECT, build_wheel, install_alone
from support.terminal import Terminal


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the working tree."""
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with nothing of the project but the wheel."""
    return install_alone(wheel, tmp_path_factory.mktemp("alone") / "venv")


def _shipped(folder: str, under: str = "") -> set[str]:
    """The files of a folder of the working tree, as they are named inside the wheel."""
    root = PROJECT / folder
    files = (path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {f"{under or folder}/{path.relative_to(root)}" for path in files}


def test_it_holds_the_whole_package_and_the_styles_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert inside == _shipped("specttui") | _shipped("styles", "specttui/styles")
    assert any(name.startswith("specttui/styles/") and name.endswith(".tcss") for name in inside)
    assert {
        "specttui/host/guarded_file.sh",
        "specttui/demo/simulated/sglang/launch_server.py",
        "specttui/demo/simulated/bin/nvidia_smi.py",
        "specttui/probe/block/probe.py",
        "specttui/host/remote_scripts/discover_host.py",
    } <= inside


def _said(python: Path, *arguments: str) -> str:
    """What the installed program prints, started far from the working tree."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(python), *arguments],
        cwd=python.parent, env=environment, check=True, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    return done.stdout


def test_only_the_wheel_is_imported(python: Path) -> None:
    where = _said(python, "-c", "import specttui; print(specttui.__file__)").strip()
    assert Path(where).is_relative_to(python.parents[1])


def test_its_command_is_installed(python: Path) -> None:
    assert _said(python.parent / "specttui", "--help").startswith("Usage: specttui")
    version = _said(python, "-c", "import specttui; print(specttui.__version__)")
    assert _said(python.parent / "specttui", "--version") == version


@pytest.mark.tmux
def test_the_demo_starts_from_it(python: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with Terminal(120, 40, {**environment, "TERM": "xterm-256color"}) as terminal:
        terminal.type(f"cd / && {python.parent / 'specttui'} demo")
        terminal.press("Enter")
        terminal.wait_for("THROUGHPUT", "CYCLE", "VERDICT", "RUNS", "1 running", "q quit")
        assert any(line.startswith("╭─ THROUGHPUT") for line in terminal.lines)  # the styles are in force
        terminal.press("p")
        terminal.wait_for("Patch the worker file", "Clock (k)", "# >>> specttui probe v1")
        terminal.press("Escape")
        terminal.wait_without("Clock (k)")
        terminal.press("q")
        assert "Traceback" not in terminal.wait_for("Session recorded in")

"""The wheel, built as for a package index, in an environment that has nothing else of the project."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import sysconfig
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


def build_wheel(folder: Path) -> Path:
    """Build the wheel from the working tree; gives the file.

    The build backend of this environment is used where there is one, else pip fetches it.
    """
    here = ["--no-build-isolation"] if importlib.util.find_spec("hatchling") else []
    command = ["-m", "pip", "wheel", "--quiet", "--no-deps", *here, "--wheel-dir", str(folder), str(PROJECT)]
    subprocess.run([sys.executable, *command], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def install_alone(wheel: Path, folder: Path) -> Path:
    """Make an environment that has the wheel and only the libraries of ours; gives its Python.

    The libraries come from this environment by its site-packages folder, but not the editable install of
    the project that may be in it: that one is found by a .pth file, and those count in site folders only.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"),
            *("--no-deps", "--no-index", str(wheel)),
        ],
        check=True,
    )
    (site,) = (folder / "lib").glob("python*/site-packages")
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python

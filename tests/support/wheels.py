"""SGLang's real worker files: wheels fetched once, of which only the speculative sources are kept."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import platformdirs

#: What is kept of a wheel.
KEPT = "sglang/srt/speculative/"
#: Wheels are fetched two at a time at most, over all processes of a test run.
SLOTS = 2
#: glibc levels whose wheels we can unpack: none of their native code is ever run.
GLIBC_MINORS = (39, 35, 34, 31, 28, 27, 24, 17)


def cache_folder() -> Path:
    """Where extracted sources live: SPECTTUI_WHEEL_CACHE, else the user's cache folder."""
    configured = os.environ.get("SPECTTUI_WHEEL_CACHE")
    folder = Path(configured) if configured else Path(platformdirs.user_cache_dir("specttui")) / "wheels"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def speculative_folder(version: str) -> Path:
    """Folder of `sglang/srt/speculative` of a release, fetched on first use.

    Args:
        version: A release on PyPI, such as "0.5.12".

    Raises:
        subprocess.CalledProcessError: pip could not fetch the wheel.
    """
    cache = cache_folder()
    folder = cache / f"sglang-{version}"
    if not folder.is_dir():
        with _locked(cache / f"sglang-{version}.lock"):
            if not folder.is_dir():
                with _download_slot(cache):
                    _fetch(version, folder)
    return folder / KEPT


def worker_source(version: str, name: str) -> bytes:
    """Bytes of one file below `sglang/srt/speculative` of a release."""
    return (speculative_folder(version) / name).read_bytes()


def _fetch(version: str, folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="fetch-") as scratch:
        subprocess.run(_pip_command(version, scratch), check=True, stdout=subprocess.DEVNULL)
        wheel = next(Path(scratch).glob("*.whl"))
        unpacked = Path(scratch) / "unpacked"
        (unpacked / KEPT).mkdir(parents=True)
        with zipfile.ZipFile(wheel) as archive:
            wanted = [name for name in archive.namelist() if name.startswith(KEPT) and name.endswith(".py")]
            archive.extractall(unpacked, members=wanted)
        shutil.move(unpacked, folder)


def _pip_command(version: str, destination: str) -> list[str]:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary=:all:", "--no-cache-dir"]
    command += ["--python-version", "3.12", "--implementation", "cp"]
    for minor in GLIBC_MINORS:
        command += ["--platform", f"manylinux_2_{minor}_x86_64"]
    return [*command, "--platform", "manylinux2014_x86_64", "--dest", destination, f"sglang=={version}"]


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def _download_slot(cache: Path) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        handles = [stack.enter_context((cache / f"slot-{index}.lock").open("w")) for index in range(SLOTS)]
        while not any(_try_lock(handle.fileno()) for handle in handles):
            time.sleep(0.2)
        yield


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True

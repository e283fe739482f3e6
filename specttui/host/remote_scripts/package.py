"""The server's interpreter, its sglang package and the worker files in it. Runs on the host."""
# Plain os calls: the program starts anew for every look, and /proc holds thousands of links; the program
# has one thread.
# ruff: noqa: PLW1509, PTH112, PTH113, PTH116, PTH118, PTH120, PTH207

import base64
import glob
import hashlib
import json
import os
import pwd
import re
import stat
import subprocess
import zlib
from collections.abc import Sequence
from typing import NamedTuple

from specttui.host.remote_scripts import launchers, locate_package, procfs, source

_TIMEOUT_S = 15
_SOURCE_LIMIT_BYTES = 2 * 1024 * 1024
_IMAGE_CHECKOUT = "/sgl-workspace/sglang/python/sglang"
_VERSION = re.compile(r"^(?:__version__|version)\b[^\n]*?=\s*[\"']([^\"'\n]+)[\"']", re.MULTILINE)


class Place(NamedTuple):
    """Where a server process lives: `root` is "" in our own file system, else the way into its own."""

    pid: int
    uid: int
    argv: "list[str]"
    cwd: str
    environ: "dict[bytes, bytes] | None"
    root: str


def interpreter(place: Place) -> str:
    """The interpreter as the server was started with: argv[0] in its own PATH and working folder.

    The link is not resolved: /proc/PID/exe of a virtual environment is the base interpreter, which does
    not see the environment's packages.
    """
    name = place.argv[0] if place.argv else ""
    if "/" in name:
        return os.path.normpath(os.path.join(place.cwd or "/", name))
    path = procfs.text((place.environ or {}).get(b"PATH", b"")) or os.defpath
    for folder in path.split(":"):
        candidate = os.path.join(place.cwd or "/", folder, name)
        if name and os.access(place.root + candidate, os.X_OK) and os.path.isfile(place.root + candidate):
            return candidate
    return procfs.link(f"/proc/{place.pid}/exe")


def _command(place: Place, python: str) -> "list[str]":
    options, rest = launchers.interpreter_options(place.argv)
    way = "module" if rest and rest[0].startswith("-m") else "script"
    enter = ["nsenter", "-t", str(place.pid), "-m", "-r", "-w"] if place.root else []
    return [
        *enter,
        python,
        *options,
        "-c",
        source("locate_package"),
        way,
        launchers.flag(place.argv, "--config") or "",
    ]


def _become(uid: int) -> None:
    """Drop root's rights, so that nobody's process name makes us run his program as root."""
    if os.geteuid() == 0 and uid != 0:
        entry = pwd.getpwuid(uid)
        os.initgroups(entry.pw_name, entry.pw_gid)
        os.setgid(entry.pw_gid)
        os.setuid(uid)


def _ask(place: Place, python: str) -> "dict[str, object]":
    """Run `locate_package` in the server's interpreter, with its environment, working folder and user."""
    if os.geteuid() not in (0, place.uid):
        raise OSError("the server belongs to another user")
    environ = dict(place.environ) if place.environ is not None else dict(os.environb)
    environ[b"PYTHONDONTWRITEBYTECODE"] = b"1"
    cwd = place.cwd if place.cwd and not place.root and os.path.isdir(place.cwd) else "/"
    process = subprocess.Popen(
        _command(place, python),
        cwd=cwd,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        preexec_fn=None if place.root else lambda: _become(place.uid),
    )
    try:
        output = procfs.text(process.communicate(timeout=_TIMEOUT_S)[0])
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    answer = output.rpartition(locate_package.BEGIN)[2].partition(locate_package.END)[0]
    findings: dict[str, object] = json.loads(answer)
    return findings


def _mapped_folders(pid: int) -> "list[str]":
    """The package folders whose libraries the process has mapped."""
    maps = procfs.text(procfs.read_bytes(f"/proc/{pid}/maps") or b"")
    return sorted(set(re.findall(r"(/\S*?/(?:site|dist)-packages)/", maps)))


def _editable_folders(root: str, folder: str) -> "list[str]":
    found: list[str] = []
    for name in glob.glob(root + folder + "/*sglang*.pth"):
        lines = procfs.text(procfs.read_bytes(name) or b"").splitlines()
        found += [line.strip() for line in lines if line.startswith("/")]
    return found


def _search(place: Place) -> str:
    """The package by looking, for processes whose interpreter we cannot run."""
    installed = _mapped_folders(place.pid)
    editable = [path for folder in installed for path in _editable_folders(place.root, folder)]
    python_path = procfs.text((place.environ or {}).get(b"PYTHONPATH", b"")).split(":")
    around = [place.cwd, os.path.join(place.cwd, "python")] if place.cwd else []
    bases = [folder for folder in python_path + around + editable + installed if folder.startswith("/")]
    for candidate in [os.path.join(base, "sglang") for base in bases] + [_IMAGE_CHECKOUT]:
        if os.path.isdir(place.root + candidate + "/srt/speculative"):
            return candidate
    return ""


def _written_version(folder: str) -> "str | None":
    """The version that the package's own text states; a checkout's metadata may be another's."""
    for name in ("version.py", "_version.py"):
        match = _VERSION.search(procfs.text(procfs.read_bytes(os.path.join(folder, name)) or b""))
        if match:
            return match.group(1)
    return None


def package(place: Place) -> "dict[str, object]":
    """The sglang package that a server runs: interpreter, folder, version, and how it was found."""
    python = interpreter(place)
    findings: dict[str, object] = {}
    problem: str = ""
    try:
        findings = _ask(place, python)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        problem = f"{type(error).__name__}: {error}"
    path = str(findings.get("path") or "") or _search(place)
    version = (path and _written_version(place.root + path)) or findings.get("version")
    return {
        "interpreter": python,
        "path": path,
        "version": version or "",
        "asked": bool(findings.get("path")),
        "config": findings.get("config"),
        "problem": problem[-400:],
    }


def _allows(path: str, account: "list[int]") -> bool:
    """Whether the mode of a file or folder lets an account write there: its number, then its groups'."""
    found = os.stat(path)
    if found.st_uid == account[0]:
        return bool(found.st_mode & stat.S_IWUSR)
    return bool(found.st_mode & (stat.S_IWGRP if found.st_gid in account[1:] else stat.S_IWOTH))


def _may_replace(path: str, folder: str, account: "list[int]") -> bool:
    if not account:
        return os.access(path, os.W_OK) and os.access(folder, os.W_OK)
    return not path.startswith("/proc/") and _allows(path, account) and _allows(folder, account)


def _worker_file(path: str, account: "list[int]") -> "dict[str, object]":
    data = procfs.read_bytes(path)
    inside = path.startswith("/proc/")  # a link there leads out of the server's file system
    folder = os.path.dirname(path if inside else os.path.realpath(path))
    return {
        "path": path,
        "readable": data is not None,
        "sha256": hashlib.sha256(data or b"").hexdigest(),
        "size_bytes": len(data or b""),
        "writable": _may_replace(path, folder, account),
        "content": base64.b64encode(zlib.compress((data or b"")[:_SOURCE_LIMIT_BYTES])).decode("ascii"),
    }


def worker_files(root: str, package_path: str, account: "list[int]") -> "list[dict[str, object]]":
    """Every worker file of the package, with its content, so that no second visit is needed.

    Args:
        root: The way into the server's file system, "" for ours.
        package_path: The package's folder.
        account: The account that may or may not write them, by its number and its groups'; empty for ours.
    """
    if not package_path:
        return []
    folder = procfs.way_to(root, package_path) + "/srt/speculative"
    names: Sequence[str] = []
    names = glob.glob(glob.escape(folder) + "/*worker*.py")
    names += glob.glob(glob.escape(folder) + "/*/*worker*.py")
    return [_worker_file(name, account) for name in sorted(names)]

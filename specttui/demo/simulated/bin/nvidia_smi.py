"""A stand-in for nvidia-smi: the profile's GPUs, whose memory is full while the simulated server runs.

The host's folder starts it with `--demo-gpus=COUNT,MIB,NAME` before the user's own arguments. It answers
`--query-gpu=FIELDS` and `--query-compute-apps=FIELDS` with `--format=csv[,noheader][,nounits]`,
`-L`, and a short table without arguments. Standard library only; runs as a program of its own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

_IDLE_MIB = 4
_USED_SHARE = 0.85
_MARKER = "SPECTTUI_DEMO_ID"


class Hardware(NamedTuple):
    """The host's GPUs, all of one kind."""

    gpus: int
    memory_mib: int
    name: str


def scheduler_pids() -> list[int]:
    """The simulated server's schedulers on this demo host, by rank."""
    marker = f"{_MARKER}={os.environ.get(_MARKER, '')}".encode()
    folders = [folder for folder in Path("/proc").iterdir() if folder.name.isdigit()]
    return sorted(int(folder.name) for folder in folders if _is_scheduler(folder, marker))


def _is_scheduler(folder: Path, marker: bytes) -> bool:
    try:
        if not (folder / "cmdline").read_bytes().startswith(b"sglang::scheduler"):
            return False
        return marker in (folder / "environ").read_bytes().split(b"\0")
    except OSError:
        return False


def gpu_fields(hardware: Hardware, index: int, *, busy: bool) -> dict[str, tuple[str, str]]:
    """Value and unit of every field of one GPU that can be asked for."""
    name, total = hardware.name, hardware.memory_mib
    used = int(total * _USED_SHARE) if busy else _IDLE_MIB
    return {
        "index": (str(index), ""),
        "name": (name, ""),
        "gpu_name": (name, ""),
        "uuid": (f"GPU-00000000-0000-4000-8000-{index:012d}", ""),
        "pci.bus_id": (f"00000000:{0x11 + index:02X}:00.0", ""),
        "driver_version": ("580.65.06", ""),
        "memory.total": (str(total), "MiB"),
        "memory.used": (str(used), "MiB"),
        "memory.free": (str(total - used), "MiB"),
        "utilization.gpu": ("97" if busy else "0", "%"),
        "utilization.memory": ("41" if busy else "0", "%"),
        "power.draw": ("311.24" if busy else "74.10", "W"),
        "power.limit": ("500.00", "W"),
        "temperature.gpu": ("58" if busy else "31", ""),
        "clocks.sm": ("1980" if busy else "345", "MHz"),
    }


def app_fields(hardware: Hardware, index: int, pid: int) -> dict[str, tuple[str, str]]:
    """Value and unit of every field of one process on a GPU."""
    fields = gpu_fields(hardware, index, busy=True)
    return {
        "pid": (str(pid), ""),
        "process_name": ("sglang::scheduler", ""),
        "gpu_uuid": fields["uuid"],
        "used_memory": fields["memory.used"],
        "used_gpu_memory": fields["memory.used"],
    }


def render(rows: list[dict[str, tuple[str, str]]], names: list[str], options: list[str]) -> str:
    """The asked fields as CSV."""
    lines = []
    if "noheader" not in options:
        lines.append(", ".join(names))
    for row in rows:
        cells = [row[name] for name in names]
        units = "nounits" not in options
        lines.append(", ".join(f"{value} {unit}" if units and unit else value for value, unit in cells))
    return "".join(f"{line}\n" for line in lines)


def query(
    names: str, known: dict[str, tuple[str, str]], rows: list[dict[str, tuple[str, str]]], form: str
) -> int:
    """Print a query's answer; returns the exit status."""
    fields = [name.strip() for name in names.split(",")]
    for field in fields:
        if field not in known:
            print(f'Field "{field}" is not a valid field to query.\n')
            return 2
    sys.stdout.write(render(rows, fields, form.split(",")))
    return 0


def main(arguments: list[str]) -> int:
    """Answer one call; returns the exit status."""
    options = dict(argument.partition("=")[::2] for argument in arguments)
    pids = scheduler_pids()
    count, memory, name = options["--demo-gpus"].split(",")
    hardware = Hardware(int(count), int(memory), name)
    gpus = [gpu_fields(hardware, index, busy=bool(pids)) for index in range(hardware.gpus)]
    apps = [app_fields(hardware, index, pid) for index, pid in enumerate(pids)]
    form = options.get("--format", "csv")
    if "--query-gpu" in options:
        return query(options["--query-gpu"], gpus[0], gpus, form)
    if "--query-compute-apps" in options:
        return query(options["--query-compute-apps"], app_fields(hardware, 0, 0), apps, form)
    line: Callable[[dict[str, tuple[str, str]]], str] = _listed if "-L" in options else _tabled
    sys.stdout.write("".join(f"{line(gpu)}\n" for gpu in gpus))
    return 0


def _listed(gpu: dict[str, tuple[str, str]]) -> str:
    return f"GPU {gpu['index'][0]}: {gpu['name'][0]} (UUID: {gpu['uuid'][0]})"


def _tabled(gpu: dict[str, tuple[str, str]]) -> str:
    index, name, used, total = (gpu[key][0] for key in ("index", "name", "memory.used", "memory.total"))
    return f"|  {index}  {name:<30} | {used:>6}MiB / {total:>6}MiB |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""A stand-in for nvidia-smi that shows one GPU, its memory changing from call to call."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

_PROGRAM = """\
#!/bin/sh
count=$(cat {state} 2>/dev/null || echo 0)
echo $((count + 1)) >{state}
set -- {values}
while [ "$count" -gt 0 ] && [ $# -gt 1 ]; do shift; count=$((count - 1)); done
echo "0, NVIDIA H200, 143771, $1, {utilisation}, 370.00, 41"
"""


def write_nvidia_smi(folder: Path, used_mib: Sequence[int], utilisation: str = "0") -> Path:
    """Write the program; each call shows the next value of `used_mib`, the last one for ever."""
    folder.mkdir(exist_ok=True)
    path = folder / "nvidia-smi"
    values = " ".join(str(value) for value in used_mib)
    path.write_text(_PROGRAM.format(state=folder / "calls", values=values, utilisation=utilisation))
    path.chmod(0o755)
    return path

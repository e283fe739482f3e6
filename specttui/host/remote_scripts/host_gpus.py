"""The GPUs as nvidia-smi prints them. Runs on the host."""

import subprocess
from collections.abc import Sequence

QUERY = "index,name,memory.total,memory.used,utilization.gpu,power.draw,temperature.gpu"


def run_nvidia_smi(arguments: "Sequence[str]") -> "str | None":
    """What nvidia-smi prints, or None where there is none or it fails."""
    try:
        process = subprocess.Popen(
            ["nvidia-smi", *list(arguments)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return None
    try:
        output = process.communicate(timeout=15)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return None
    return output.decode("utf-8", "replace") if process.returncode == 0 else None


def gpu_table() -> "str | None":
    """One line of comma-separated values per GPU, in the order of `QUERY`."""
    return run_nvidia_smi(["--query-gpu=" + QUERY, "--format=csv,noheader,nounits"])

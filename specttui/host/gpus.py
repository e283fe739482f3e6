"""GPUs as nvidia-smi names them."""

from __future__ import annotations

from specttui.events import Gpu
from specttui.host.remote import Remote
from specttui.host.remote_scripts.host_gpus import QUERY


def parse_gpus(table: str) -> tuple[Gpu, ...]:
    """Read the output of `nvidia-smi --query-gpu=... --format=csv,noheader,nounits`.

    Args:
        table: Lines of index, name, memory total and used (MiB), utilisation (%), power (W),
            temperature (C). A value in brackets, such as `[N/A]`, is one that this GPU does not tell.

    Returns:
        The GPUs in the table's order; lines of another shape are left out.
    """
    rows = [[field.strip() for field in line.split(",")] for line in table.splitlines()]
    return tuple(_gpu(row) for row in rows if len(row) == 7 and row[0].isdigit())


async def sample_gpus(remote: Remote) -> tuple[Gpu, ...]:
    """The GPUs now; empty where there is no nvidia-smi or it fails.

    Raises:
        ConnectionLostError: The connection broke.
    """
    result = await remote.run(["nvidia-smi", f"--query-gpu={QUERY}", "--format=csv,noheader,nounits"])
    return parse_gpus(result.text) if result.ok else ()


def _gpu(row: list[str]) -> Gpu:
    return Gpu(
        index=int(row[0]),
        name=row[1],
        memory_total_mib=int(_number(row[2]) or 0),
        memory_used_mib=int(_number(row[3]) or 0),
        utilisation_percent=_number(row[4]),
        power_w=_number(row[5]),
        temperature_c=_number(row[6]),
    )


def _number(field: str) -> float | None:
    try:
        return float(field)
    except ValueError:
        return None

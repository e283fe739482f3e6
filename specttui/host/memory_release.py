"""Wait, after a server ended, until the GPUs have their memory back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from specttui.events import Gpu, ServerStopping
from specttui.host.gpus import sample_gpus
from specttui.host.remote import Remote

#: Memory within this of the last sample is called unchanged, and of the idle level, released.
MEMORY_TOLERANCE_MIB = 200


async def release_memory(
    remote: Remote,
    before: tuple[Gpu, ...],
    on_step: Callable[[ServerStopping], None],
    limit_s: float,
    idle_mib: Mapping[int, int] | None,
) -> tuple[tuple[Gpu, ...], bool | None]:
    """Wait until the GPUs' memory is back at its idle level, or does not fall any more.

    Args:
        remote: The host.
        before: The GPUs before the server was stopped; none where they cannot be seen.
        on_step: Called with each step.
        limit_s: How long to wait.
        idle_mib: Used memory by GPU index before the server was started, where it is known.

    Returns:
        The GPUs now, and whether their memory is back; None where they cannot be seen.
    """
    if not before:
        return (), None
    on_step(ServerStopping(step="memory", detail="waiting for the GPUs to release it"))
    clock = asyncio.get_running_loop().time
    deadline = clock() + limit_s
    last, now = before, await sample_gpus(remote)
    while not _settled(last, now, idle_mib):
        if clock() > deadline:
            on_step(ServerStopping(step="memory", detail=f"still held: {_memory(before, now)}"))
            return now, False
        await asyncio.sleep(min(1.0, limit_s))
        last, now = now, await sample_gpus(remote)
    on_step(ServerStopping(step="memory", detail=_memory(before, now)))
    return now, True


def _settled(last: tuple[Gpu, ...], now: tuple[Gpu, ...], idle_mib: Mapping[int, int] | None) -> bool:
    if idle_mib is not None:
        return all(
            gpu.memory_used_mib <= idle_mib.get(gpu.index, gpu.memory_used_mib) + MEMORY_TOLERANCE_MIB
            for gpu in now
        )
    return len(last) == len(now) and all(
        abs(earlier.memory_used_mib - gpu.memory_used_mib) <= MEMORY_TOLERANCE_MIB
        for earlier, gpu in zip(last, now, strict=True)
    )


def _memory(before: tuple[Gpu, ...], now: tuple[Gpu, ...]) -> str:
    used = {gpu.index: gpu.memory_used_mib for gpu in before}
    return ", ".join(f"GPU {gpu.index} {used.get(gpu.index, 0)} -> {gpu.memory_used_mib} MiB" for gpu in now)

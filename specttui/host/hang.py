"""Tell a deadlocked start from a slow one: no output, busy GPUs, and memory that does not change. Pure."""

from __future__ import annotations

from specttui.events import Gpu

#: Spinning collectives show full utilisation; loading weights does not.
_BUSY_PERCENT = 95.0
_FLAT_MIB = 64


class HangWatch:
    """Looks at GPU samples taken while a server is silent.

    The first all-reduce of a broken peer-to-peer path is such a case: every GPU spins at full utilisation
    for ever, while loading moves memory and leaves the GPUs idle.
    """

    def __init__(self) -> None:
        self._first: tuple[Gpu, ...] = ()
        self._since_s = 0.0

    def reset(self) -> None:
        """The server said something."""
        self._first = ()

    def hung_for_s(self, gpus: tuple[Gpu, ...], at_s: float) -> float:
        """Seconds for which the GPUs have been busy with flat memory, 0 when they are not.

        Args:
            gpus: The sample; GPUs that hold nothing of the server (idle, little memory) do not count.
            at_s: When it was taken.
        """
        if not self._goes_on(gpus):
            self._first, self._since_s = (gpus if _busy(gpus) else ()), at_s
        return at_s - self._since_s if self._first else 0.0

    def _goes_on(self, gpus: tuple[Gpu, ...]) -> bool:
        used = {gpu.index: gpu.memory_used_mib for gpu in self._first}
        flat = all(abs(gpu.memory_used_mib - used.get(gpu.index, -_FLAT_MIB)) <= _FLAT_MIB for gpu in gpus)
        return bool(used) and flat and _busy(gpus)


def _busy(gpus: tuple[Gpu, ...]) -> bool:
    """True when a GPU is busy and every one is either that or as good as unused."""
    loads = [(gpu.utilisation_percent or 0.0, gpu.memory_used_mib) for gpu in gpus]
    working = [load for load, used in loads if load >= _BUSY_PERCENT or used > 1024]
    return bool(working) and all(load >= _BUSY_PERCENT for load in working)

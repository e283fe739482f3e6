"""What decides how a server's GPUs talk to each other: what a start that hung there is remembered by."""

from __future__ import annotations

from dataclasses import dataclass

from specttui.events import Launch
from specttui.launch import flags
from specttui.launch.settings import Config, Parallelism, effective_command, parallelism

_PREFIXES = ("NCCL_", "TORCH_NCCL_", "CUDA_VISIBLE", "CUDA_DEVICE")
_FLAGS = (
    flags.NO_CUSTOM_ALL_REDUCE,
    flags.SYMM_MEM,
    flags.NCCL_NVLS,
    flags.DETERMINISTIC,
    "--enable-mscclpp",
    "--enable-torch-symm-mem",
    "--enable-flashinfer-allreduce-fusion",
    "--enable-dp-attention",
)


@dataclass(frozen=True, slots=True)
class Communication:
    """A launch's collectives: variables, switches and sizes; two launches with equal ones hang alike."""

    variables: tuple[tuple[str, str], ...]
    switches: tuple[str, ...]
    sizes: Parallelism

    def __str__(self) -> str:
        """In the words of the command: variables, then switches."""
        words = (*(f"{name}={value}" for name, value in self.variables), *self.switches)
        return " ".join(words) or "no NCCL settings"


def communication(launch: Launch, config: Config | None = None) -> Communication:
    """Read a launch's collectives.

    Args:
        launch: The launch, secrets included or not.
        config: The values of its `--config` file, where known.

    Raises:
        LaunchError: The command cannot be read.
    """
    command = effective_command(launch, config)
    return Communication(
        variables=tuple(sorted(item for item in launch.env.items() if item[0].startswith(_PREFIXES))),
        switches=tuple(name for name in _FLAGS if command.has(name)),
        sizes=parallelism(launch, config),
    )

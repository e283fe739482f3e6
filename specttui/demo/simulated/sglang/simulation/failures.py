"""Exceptions whose tracebacks read as the real libraries' do."""

from __future__ import annotations


class OutOfMemoryError(RuntimeError):
    """Printed as torch.OutOfMemoryError."""

    __module__ = "torch"


class DistBackendError(RuntimeError):
    """Printed as torch.distributed.DistBackendError."""

    __module__ = "torch.distributed"


def gpu_out_of_memory(total_gib: float) -> OutOfMemoryError:
    """The error of an allocation that no longer fits."""
    return OutOfMemoryError(
        "CUDA out of memory. Tried to allocate 96.00 MiB. "
        f"GPU 0 has a total capacity of {total_gib:.2f} GiB of which 92.31 MiB is free. Including "
        f"non-PyTorch memory, this process has {total_gib - 0.09:.2f} GiB memory in use. If reserved but "
        "unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid "
        "fragmentation."
    )


def bad_nccl_protocol(value: str) -> DistBackendError:
    """The error of a communicator that cannot be built because NCCL_PROTO names no protocol."""
    return DistBackendError(
        "NCCL error in: torch/csrc/distributed/c10d/NCCLUtils.cpp, invalid usage (run with NCCL_DEBUG=WARN "
        "for details), NCCL version 2.28.9\n"
        "ncclInvalidUsage: This usually reflects invalid usage of NCCL library.\n"
        f"Last error:\nInvalid value for NCCL_PROTO: {value}"
    )


def not_enough_memory() -> RuntimeError:
    """The error of a memory fraction that leaves no room beside the weights."""
    return RuntimeError("Not enough memory. Please try to increase --mem-fraction-static.")

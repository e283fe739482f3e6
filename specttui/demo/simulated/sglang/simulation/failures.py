"""Exceptions whose tracebacks read as the real libraries' do."""

from __future__ import annotations

import errno
import os
import socket


class OutOfMemoryError(RuntimeError):
    """Printed as torch.OutOfMemoryError."""

    __module__ = "torch"


class DistBackendError(RuntimeError):
    """Printed as torch.distributed.DistBackendError."""

    __module__ = "torch.distributed"


class DistStoreError(RuntimeError):
    """Printed as torch.distributed.DistStoreError."""

    __module__ = "torch.distributed"


class DistNetworkError(RuntimeError):
    """Printed as torch.distributed.DistNetworkError."""

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


def clients_missing(timeout_s: float, came: int, ranks: int) -> DistStoreError:
    """The error of rank 0 when not all ranks come to the meeting place; torch's TCPStore counts itself."""
    return DistStoreError(
        f"Timed out after {timeout_s + 1:.0f} seconds waiting for clients. {came}/{ranks} clients joined."
    )


def no_store(timeout_s: float, host: str, port: int) -> DistNetworkError:
    """The error of a rank that finds nobody at the meeting place, or waits there in vain."""
    return DistNetworkError(
        f"The client socket has timed out after {timeout_s * 1000:.0f}ms while trying to connect to "
        f"({host}, {port})."
    )


def store_gone() -> DistNetworkError:
    """The error of a rank at the meeting place when rank 0 dies there."""
    return DistNetworkError("failed to recv, got 0 bytes")


def address_taken(port: int, error: OSError) -> DistNetworkError:
    """The error of rank 0 when it cannot listen at the meeting place."""
    number = error.errno or errno.EADDRINUSE
    return DistNetworkError(
        f"The server socket has failed to listen on any local network address. port: {port}, "
        f"useIpv6: false, code: -{number}, name: {errno.errorcode.get(number, number)}, "
        f"message: {os.strerror(number).lower()}"
    )


def peer_gone(connection: socket.socket) -> DistBackendError:
    """The error of a collective whose peer died."""
    try:
        host, port = connection.getpeername()[:2]
        peer = f"{host}<{port}>"
    except OSError:
        peer = "<unknown>"
    return DistBackendError(
        "NCCL error in: torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp, remote process exited or there was "
        "a network error, NCCL version 2.28.9\n"
        "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting "
        f"prematurely.\nLast error:\nsocketProgress: Connection closed by remote peer {peer}"
    )

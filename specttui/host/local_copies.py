"""Copies of a host's originals in the local session folder, whole or not there, for nobody else to read."""

from __future__ import annotations

import asyncio
import hashlib
import os
from pathlib import Path

from specttui.private_files import private_folder


class LocalCopies:
    """The local copies of one remote file.

    Args:
        folder: Where they go; made when the first is written.
        name: The remote file's name.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self._name = name

    async def keep(self, data: bytes, sha256: str) -> Path:
        """Write a copy; returns its path.

        Raises:
            OSError: The folder cannot be written.
        """
        return await asyncio.to_thread(self._keep, data, sha256)

    async def find(self, sha256: str) -> bytes | None:
        """The copy with this hash; None where there is none, or it is damaged."""
        data = await asyncio.to_thread(_read_if_there, self._path(sha256))
        return data if data is not None and hashlib.sha256(data).hexdigest() == sha256 else None

    def _path(self, sha256: str) -> Path:
        return self.folder / f"{self._name}.{sha256[:16]}.orig"

    def _keep(self, data: bytes, sha256: str) -> Path:
        private_folder(self.folder)
        path = self._path(sha256)
        partial = path.with_suffix(".partial")
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
        return path


def _read_if_there(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None

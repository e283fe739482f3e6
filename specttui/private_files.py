"""Folders and files for their owner alone: what we keep may hold other people's paths and settings."""

from __future__ import annotations

import os
from pathlib import Path


def private_folder(path: Path) -> None:
    """Make a folder where it is missing, and each missing one above it, all with mode 0700.

    `Path.mkdir` gives its mode to the last folder only.

    Raises:
        OSError: It cannot be made, or a file is in its place.
    """
    for folder in (*reversed(path.parents), path):
        if not folder.is_dir():
            folder.mkdir(mode=0o700, exist_ok=True)


def write_private(path: Path, data: bytes) -> None:
    """Write a file whole, readable by its owner alone also where it was there before.

    Raises:
        OSError: It cannot be written.
    """
    private_folder(path.parent)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(data)

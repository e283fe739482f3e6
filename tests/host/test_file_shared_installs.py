# ruff: noqa: ASYNC240 - the files of a test are small and local
"""One installation on a network drive that several hosts execute; what a file carries besides bytes."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from support.local_remote import LocalRemote

from specttui.errors import WorkerFileChangedError
from specttui.host.files import GuardedFile

ORIGINAL = b"class EAGLEWorker:\n    pass\n"
PATCHED = ORIGINAL + b"# block\n"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "nfs" / "worker.py"
    file.parent.mkdir()
    file.write_bytes(ORIGINAL)
    return file


def on_host(folder: Path, host: str, path: Path) -> GuardedFile:
    """The file as a session on one of the hosts sees it: cache, locks and notes are each host's own."""
    home = folder / host
    home.mkdir(exist_ok=True)
    return GuardedFile(LocalRemote(home, name=host), str(path), f"session-{host}", folder / f"local {host}")


async def test_another_host_sees_the_backup_and_brings_the_original_back(tmp_path: Path, path: Path) -> None:
    one, other = on_host(tmp_path, "one", path), on_host(tmp_path, "other", path)
    await one.back_up()
    await one.replace(PATCHED, sha256(ORIGINAL))
    left = await other.leftovers()
    assert [(each.what, each.session_id, each.sha256) for each in left] == [
        ("backup", "session-one", sha256(ORIGINAL))
    ]
    await other.restore(ORIGINAL, expected_sha256=sha256(PATCHED))
    assert path.read_bytes() == ORIGINAL
    assert list(path.parent.iterdir()) == [path]
    await one.restore()
    assert path.read_bytes() == ORIGINAL
    assert await one.leftovers() == await other.leftovers() == []


async def test_two_hosts_never_write_over_each_other(tmp_path: Path, path: Path) -> None:
    """They share no lock; what the file holds at the moment of writing decides."""
    one, other = on_host(tmp_path, "one", path), on_host(tmp_path, "other", path)
    await one.back_up()
    await other.back_up()
    await one.replace(PATCHED, sha256(ORIGINAL))
    with pytest.raises(WorkerFileChangedError, match="was changed by somebody else"):
        await other.replace(PATCHED + b"# other\n", sha256(ORIGINAL))
    assert path.read_bytes() == PATCHED


@pytest.mark.may_skip  # file systems without extended attributes
async def test_extended_attributes_are_kept(tmp_path: Path, path: Path) -> None:
    try:
        os.setxattr(path, "user.origin", b"wheel")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    file = on_host(tmp_path, "one", path)
    await file.back_up()
    await file.replace(PATCHED, sha256(ORIGINAL))
    assert os.getxattr(path, "user.origin") == b"wheel"
    await file.restore()
    assert (path.read_bytes(), os.getxattr(path, "user.origin")) == (ORIGINAL, b"wheel")

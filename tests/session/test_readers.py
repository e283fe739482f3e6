"""A server of another user must be able to read what the probe needs of our cache folder."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.local_remote import LocalRemote

from specttui.session.readers import unreadable_warning


@pytest.fixture
def home() -> Iterator[Path]:
    """A home that everybody may enter; pytest's own folders are closed to others."""
    with tempfile.TemporaryDirectory(prefix="it's $(home)") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def make(home: Path, mode: int) -> LocalRemote:
    (home / ".cache").mkdir(mode=0o700)
    home.chmod(mode)
    return LocalRemote(home)


async def test_an_open_way_is_fine(home: Path) -> None:
    assert await unreadable_warning(LocalRemote(home), "nobody", "file") == ""


async def test_the_outermost_closed_folder_is_named(home: Path) -> None:
    remote = make(home, 0o750)
    assert await unreadable_warning(remote, "nobody", "file") == (
        f"The server runs as nobody, who may not enter {home}: k cannot switch the probe's clock "
        f"until `chmod o+x {home}`"
    )
    assert "the import hook will not be found" in await unreadable_warning(remote, "nobody", "import_hook")


async def test_the_next_one_is_named_once_that_is_open(home: Path) -> None:
    warning = await unreadable_warning(make(home, 0o711), "nobody", "file")
    assert f"may not enter {home / '.cache'}:" in warning


@pytest.mark.parametrize("user", ["", "root", "0"])
async def test_root_and_the_unknown_are_not_warned_of(home: Path, user: str) -> None:
    assert await unreadable_warning(make(home, 0o700), user, "file") == ""

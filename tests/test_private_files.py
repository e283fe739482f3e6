"""What we keep on this machine is for its owner alone, whatever the umask and whatever was there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from specttui.private_files import private_folder, write_private


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_every_folder_on_the_way_is_private(tmp_path: Path) -> None:
    private_folder(tmp_path / "a" / "b" / "c")
    assert [mode(tmp_path / part) for part in ("a", "a/b", "a/b/c")] == [0o700] * 3


def test_a_folder_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir(mode=0o755)
    private_folder(tmp_path / "a" / "b")
    private_folder(tmp_path / "a" / "b")
    assert (mode(tmp_path / "a"), mode(tmp_path / "a" / "b")) == (0o755, 0o700)


def test_a_file_in_a_folders_place_is_told(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    with pytest.raises(FileExistsError):
        private_folder(tmp_path / "a")


def test_a_file_is_written_whole_and_private(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "file"
    write_private(path, b"a longer text")
    assert (path.read_bytes(), mode(path), mode(path.parent)) == (b"a longer text", 0o600, 0o700)
    path.chmod(0o644)
    write_private(path, b"short")
    assert (path.read_bytes(), mode(path)) == (b"short", 0o600)

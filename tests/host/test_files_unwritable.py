# ruff: noqa: ASYNC240 - the files of a test are small and local
"""Files that cannot be written: the reason is said, and the file stays as it was."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.local_remote import LocalRemote

from specttui.errors import WorkerFileError
from specttui.host.files import GuardedFile

ORIGINAL = b"original\n" * 100
SHA = hashlib.sha256(ORIGINAL).hexdigest()

_FULL_DISK = """\
#!/bin/sh
for word; do case $word in of=*) head -c 100 >"${word#of=}" ;; esac; done
exec /bin/dd of=/dev/full bs=65536
"""


class UnprivilegedRemote(LocalRemote):
    """Commands run as an account that owns nothing, also when the tests run as root."""

    async def run(self, argv, **options):
        if os.getuid() == 0:
            argv = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *argv]
        return await super().run(argv, **options)


class LimitedRemote(LocalRemote):
    """Commands may write files of one block only."""

    async def run(self, argv, **options):
        return await super().run(["sh", "-c", 'trap "" XFSZ; ulimit -f 1; exec "$@"', "sh", *argv], **options)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that other accounts can reach."""
    made = Path(tempfile.mkdtemp(prefix="specttui-test-"))
    made.chmod(0o755)
    yield made
    for each in (made, *made.rglob("*")):
        each.chmod(0o700)
    shutil.rmtree(made)


@pytest.fixture
def path(folder: Path) -> Path:
    file = folder / "worker.py"
    file.write_bytes(ORIGINAL)
    file.chmod(0o644)
    return file


async def _refusal(remote: LocalRemote, path: Path, folder: Path) -> WorkerFileError:
    """What patching is refused with; and the file must be as it was, with nothing beside it."""
    guarded = GuardedFile(remote, str(path), "s1", folder / "local")
    with pytest.raises(WorkerFileError) as refused:
        await guarded.back_up()
    assert path.read_bytes() == ORIGINAL
    assert list(path.parent.glob("*specttui*")) == []
    return refused.value


async def test_a_folder_that_may_not_be_written(path: Path, folder: Path):
    folder.chmod(0o555)
    local = Path(tempfile.mkdtemp())
    remote = UnprivilegedRemote(Path("/nonexistent"))
    remote._home = Path("/")
    guarded = GuardedFile(remote, str(path), "s1", local)
    contents = await guarded.read()
    assert contents.folder_writable is False
    with pytest.raises(WorkerFileError) as refused:
        await guarded.back_up(contents)
    assert refused.value.title == f"{path} cannot be written"
    assert refused.value.cause == "This account may not write there. It was left as it was."
    assert "owner of the installation" in refused.value.remedy
    shutil.rmtree(local)


async def test_a_file_that_may_not_be_read(path: Path, folder: Path):
    path.chmod(0o000)
    guarded = GuardedFile(UnprivilegedRemote(Path("/")), str(path), "s1", folder / "local")
    with pytest.raises(WorkerFileError) as refused:
        await guarded.read()
    assert refused.value.cause == "This account may not read it. It was left as it was."


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make a file that belongs to somebody else")
@pytest.mark.may_skip
async def test_an_owner_that_cannot_be_kept(path: Path, folder: Path):
    folder.chmod(0o777)
    error = await _refusal(UnprivilegedRemote(Path("/")), path, folder)
    assert error.title == f"{path} cannot be written"
    assert error.cause == "A new file could not be given its owner and mode (0:0 644). It was left as it was."


async def test_a_full_disk(path: Path, folder: Path):
    shims = folder / "shims"
    shims.mkdir()
    (shims / "dd").write_text(_FULL_DISK)
    (shims / "dd").chmod(0o755)
    remote = LocalRemote(folder, env={"PATH": f"{shims}:{os.environ['PATH']}"})
    error = await _refusal(remote, path, folder)
    assert error.cause == "The disk is full. It was left as it was."
    assert "Free some space" in error.remedy


async def test_a_disk_that_fills_up_while_the_patch_is_written(path: Path, folder: Path):
    guarded = GuardedFile(LocalRemote(folder), str(path), "s1", folder / "local")
    await guarded.back_up()
    limited = GuardedFile(LimitedRemote(folder), str(path), "s1", folder / "local")
    limited._backup = guarded.backup
    with pytest.raises(WorkerFileError) as refused:
        await limited.replace(ORIGINAL * 100, SHA)
    assert refused.value.cause == "The account's limit on file sizes is reached. It was left as it was."
    assert path.read_bytes() == ORIGINAL
    assert not list(folder.glob("*.tmp"))


@pytest.mark.parametrize(
    ("complaint", "cause"),
    [
        ("mv: cannot move: Read-only file system", "The file is on a read-only file system."),
        ("dd: Disk quota exceeded", "The disk quota is used up."),
        ("mv: Operation not permitted", "The host forbids it: the file may be immutable."),
        ("mv: Something new", "mv: Something new"),
    ],
)
async def test_what_the_system_says_is_put_in_plain_words(
    path: Path, folder: Path, complaint: str, cause: str
):
    shims = folder / "shims"
    shims.mkdir()
    refusing = f"case $* in *.orig) echo '{complaint}' >&2; exit 1 ;; esac"
    (shims / "mv").write_text(f'#!/bin/sh\n{refusing}\nexec {shutil.which("mv")} "$@"\n')
    (shims / "mv").chmod(0o755)
    remote = LocalRemote(folder, env={"PATH": f"{shims}:{os.environ['PATH']}"})
    error = await _refusal(remote, path, folder)
    assert cause in error.cause

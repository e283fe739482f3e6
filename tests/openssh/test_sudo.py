"""The real sudo, with an account of the test's own: free, with a password, wanting a terminal, refusing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.accounts import PASSWORD, Account, account_made
from support.prompters import ScriptedPrompter

from specttui.errors import WorkerFileError
from specttui.host.files import GuardedFile
from specttui.host.sudo import Sudo

pytestmark = pytest.mark.openssh

ORIGINAL = b"class EAGLEWorker:\n    pass\n"
PATCHED = ORIGINAL + b"# \0\xff not text\n" * 5000


@pytest.fixture
def account() -> Iterator[Account]:
    with account_made() as made:
        (made.folder / "installed").mkdir(mode=0o755)
        yield made


def _file(account: Account) -> Path:
    path = account.folder / "installed" / "worker.py"
    path.write_bytes(ORIGINAL)
    return path


def _guarded(account: Account, path: Path, prompter: ScriptedPrompter) -> GuardedFile:
    remote = account.remote
    return GuardedFile(remote, str(path), "s1", account.folder / "local", Sudo(remote, prompter, "yes"))


async def _there_and_back(account: Account, prompter: ScriptedPrompter) -> None:
    path = _file(account)
    guarded = _guarded(account, path, prompter)
    contents = await guarded.read()
    assert (contents.writable, contents.owner) == (False, "root")
    await guarded.back_up(contents)
    await guarded.replace(PATCHED, hashlib.sha256(ORIGINAL).hexdigest())
    assert path.read_bytes() == PATCHED
    assert (path.stat().st_uid, path.stat().st_mode & 0o777) == (0, 0o644)
    cache = account.folder / "home" / ".cache" / "specttui"
    assert {each.owner() for each in cache.rglob("*")} == {account.name}
    await guarded.restore()
    assert path.read_bytes() == ORIGINAL
    assert list(path.parent.iterdir()) == [path]


async def test_without_a_password(account: Account):
    account.may("USER ALL=(root) NOPASSWD: ALL")
    prompter = ScriptedPrompter()
    await _there_and_back(account, prompter)
    assert prompter.questions == []


async def test_with_a_password(account: Account):
    account.may("USER ALL=(root) ALL")
    prompter = ScriptedPrompter(answers=["not this one", PASSWORD])
    await _there_and_back(account, prompter)
    assert len(prompter.questions) == 2


async def _refused(account: Account, *answers: str) -> WorkerFileError:
    path = _file(account)
    guarded = _guarded(account, path, ScriptedPrompter(answers=list(answers)))
    with pytest.raises(WorkerFileError) as refused:
        await guarded.back_up(await guarded.read())
    assert path.read_bytes() == ORIGINAL
    assert list(path.parent.iterdir()) == [path]
    return refused.value


async def test_d17_a_terminal_that_sudo_wants(account: Account):
    account.may("Defaults:USER requiretty", "USER ALL=(root) NOPASSWD: ALL")
    error = await _refused(account)
    assert "wants a terminal (requiretty)" in error.cause
    assert "`Defaults requiretty`" in error.remedy


async def test_an_account_that_may_not_use_sudo(account: Account):
    error = await _refused(account, PASSWORD)
    assert "This account may not use sudo" in error.cause
    assert PASSWORD not in str(error)

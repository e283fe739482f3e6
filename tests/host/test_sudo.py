# ruff: noqa: ASYNC240 - the files of a test are small and local
"""A worker file that belongs to root: written through sudo, with a password that leaves no trace."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from support.fake_sudo import FakeSudo, install
from support.local_remote import LocalRemote
from support.prompters import ScriptedPrompter

from specttui.config import SudoMode
from specttui.errors import WorkerFileError
from specttui.host.account_steps import FileSteps
from specttui.host.file_steps import NotPermittedError
from specttui.host.files import GuardedFile
from specttui.host.remote_python import run_program
from specttui.host.sudo import Sudo, SudoRefusedError

PASSWORD = "correct horse $(battery) 'staple'"
ORIGINAL = b"class EAGLEWorker:\n    pass\n"
PATCHED = ORIGINAL + b"# \0\xff not text\n" * 5000
SHA256 = hashlib.sha256(ORIGINAL).hexdigest()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "installed"
    folder.mkdir()
    file = folder / "worker.py"
    file.write_bytes(ORIGINAL)
    return file


@pytest.fixture
def stand_in(tmp_path: Path, path: Path) -> FakeSudo:
    return install(tmp_path / "programs", path.parent)


@pytest.fixture
def remote(tmp_path: Path, stand_in: FakeSudo) -> LocalRemote:
    home = tmp_path / "home"
    home.mkdir()
    return LocalRemote(home, name="gpu-host", env=stand_in.env)


def guarded(remote: LocalRemote, path: Path, sudo: Sudo | None, session_id: str = "s1") -> GuardedFile:
    return GuardedFile(remote, str(path), session_id, path.parent.parent / f"local {session_id}", sudo)


def asking(
    remote: LocalRemote, *answers: str | None, mode: SudoMode = "auto"
) -> tuple[Sudo, ScriptedPrompter]:
    prompter = ScriptedPrompter(answers=list(answers))
    return Sudo(remote, prompter, mode), prompter


async def patch(file: GuardedFile) -> None:
    await file.back_up(await file.read())
    await file.replace(PATCHED, SHA256)


async def refusal(remote: LocalRemote, path: Path, sudo: Sudo | None) -> WorkerFileError:
    """What patching is refused with; and the file must be as it was."""
    with pytest.raises(WorkerFileError) as refused:
        await patch(guarded(remote, path, sudo))
    assert path.read_bytes() == ORIGINAL
    assert [each.name for each in path.parent.iterdir()] == ["worker.py"]
    return refused.value


async def test_without_sudo_the_folder_cannot_be_written(remote: LocalRemote, path: Path, stand_in: FakeSudo):
    for sudo in (None, asking(remote, mode="no")[0]):
        error = await refusal(remote, path, sudo)
        assert isinstance(error, NotPermittedError)
        assert error.cause == "This account may not write there. It was left as it was."
    assert stand_in.calls() == []


async def test_a_sudo_that_asks_for_nothing(remote: LocalRemote, path: Path, stand_in: FakeSudo):
    sudo, prompter = asking(remote)
    file = guarded(remote, path, sudo)
    await patch(file)
    assert path.read_bytes() == PATCHED
    await file.restore()
    assert path.read_bytes() == ORIGINAL
    assert [each.name for each in path.parent.iterdir()] == ["worker.py"]
    assert prompter.questions == []
    # Once to see that it works, then to back up, to replace twice, and to clean.
    assert [call[0] for call in stand_in.calls()] == ["-n"] * 5


async def test_a_sudo_with_a_password_asks_once_and_hides_it(
    remote: LocalRemote, path: Path, stand_in: FakeSudo
):
    stand_in.wants(PASSWORD)
    sudo, prompter = asking(remote, PASSWORD)
    file = guarded(remote, path, sudo)
    await patch(file)
    assert path.read_bytes() == PATCHED
    await file.restore()
    assert path.read_bytes() == ORIGINAL
    assert [(question.title, question.prompt, question.echo) for question in prompter.questions] == [
        ("sudo on gpu-host", "Your password there", False)
    ]
    assert [call[:2] for call in stand_in.calls()] == [["-n", "-p"], *[["-k", "-S"]] * 5]
    said = [
        *(word for command in remote.commands for word in command),
        *(w for c in stand_in.calls() for w in c),
    ]
    assert not [word for word in said if PASSWORD in word or "battery" in word]


async def test_what_root_notes_stays_in_the_accounts_own_cache(
    remote: LocalRemote, path: Path, tmp_path: Path
):
    file = guarded(remote, path, asking(remote)[0])
    await patch(file)
    noted = [each.name for each in (tmp_path / "home" / ".cache" / "specttui" / "files").iterdir()]
    assert len(noted) == 1
    assert noted[0].endswith(".s1")
    assert [left.what for left in (await file.surroundings()).leftovers] == ["backup", "journal", "lock"]


async def test_another_session_restores_and_clears_away_all_of_it(remote: LocalRemote, path: Path):
    await patch(guarded(remote, path, asking(remote)[0]))
    later = guarded(remote, path, asking(remote)[0], "s2")
    await later.restore(take_over=True)
    assert path.read_bytes() == ORIGINAL
    assert [each.name for each in path.parent.iterdir()] == ["worker.py"]


async def test_a_backup_of_a_dead_session_is_cleared_away_though_nothing_is_to_be_written(
    remote: LocalRemote, path: Path
):
    dead = guarded(remote, path, asking(remote)[0])
    await dead.back_up()
    later = guarded(remote, path, asking(remote)[0], "s2")
    await later.restore(take_over=True)
    assert [each.name for each in path.parent.iterdir()] == ["worker.py"]


async def test_what_the_account_may_do_itself_is_never_done_as_root(
    tmp_path: Path, remote: LocalRemote, stand_in: FakeSudo
):
    own = tmp_path / "own" / "worker.py"
    own.parent.mkdir()
    own.write_bytes(ORIGINAL)
    file = guarded(remote, own, asking(remote)[0])
    await patch(file)
    await file.restore()
    assert stand_in.calls() == []


async def test_a_wrong_password_is_asked_again_and_given_up_after_three(
    remote: LocalRemote, path: Path, stand_in: FakeSudo
):
    stand_in.wants(PASSWORD)
    sudo, prompter = asking(remote, "wrong", PASSWORD)
    await patch(guarded(remote, path, sudo))
    assert [question.prompt for question in prompter.questions] == [
        "Your password there",
        "Not the right password. Your password there",
    ]
    await guarded(remote, path, sudo).restore()

    sudo, prompter = asking(remote, "wrong", "wronger", "wrongest", PASSWORD)
    error = await refusal(remote, path, sudo)
    assert "wrong three times" in error.cause
    assert len(prompter.questions) == 3


async def test_a_cancelled_question_leaves_everything_as_it_was(
    remote: LocalRemote, path: Path, stand_in: FakeSudo
):
    stand_in.wants(PASSWORD)
    error = await refusal(remote, path, asking(remote, None)[0])
    assert isinstance(error, NotPermittedError)
    assert error.cause == (
        "This account may not write there. It was left as it was. "
        "sudo could not be used: No password was given."
    )


async def test_a_password_that_is_no_longer_right_is_forgotten_and_never_reaches_the_command(
    remote: LocalRemote, path: Path, stand_in: FakeSudo
):
    stand_in.wants(PASSWORD)
    sudo, prompter = asking(remote, PASSWORD, "the new one")
    assert (await sudo.run(["cat"], stdin=b"data")).stdout == b"data"
    stand_in.wants("the new one")
    with pytest.raises(SudoRefusedError, match="could not be used"):
        await sudo.run(["cat"], stdin=b"data")
    assert (await sudo.run(["cat"], stdin=b"data")).stdout == b"data"
    assert len(prompter.questions) == 2


async def test_a_password_that_sudo_does_not_read_never_reaches_the_command(
    remote: LocalRemote, stand_in: FakeSudo
):
    stand_in.wants(PASSWORD)
    stand_in.becomes_careless()
    sudo, _ = asking(remote, PASSWORD)
    result = await sudo.run(["cat"], stdin=b"first\nsecond\xff")
    assert result.stdout == b"first\nsecond\xff"


async def test_a_free_sudo_that_begins_to_ask(remote: LocalRemote, stand_in: FakeSudo):
    sudo, prompter = asking(remote, PASSWORD)
    assert (await sudo.run(["echo", "one"])).text == "one"
    stand_in.wants(PASSWORD)
    assert (await sudo.run(["echo", "two"])).text == "two"
    assert len(prompter.questions) == 1


@pytest.mark.parametrize(
    ("words", "cause", "remedy"),
    [
        ("sudo: sorry, you must have a tty to run sudo", "wants a terminal (requiretty)", "requiretty"),
        (
            "engineer is not in the sudoers file.  This incident will be reported.",
            "may not use sudo",
            "administrator",
        ),
        ("Sorry, user engineer may not run sudo on gpu-host.", "may not use sudo", "administrator"),
        (
            "Sorry, user engineer is not allowed to execute '/bin/sh' as root on gpu-host.",
            "may not use sudo",
            "administrator",
        ),
        (
            'sudo: The "no new privileges" flag is set, which prevents sudo from running as root.',
            "cannot become root here",
            "Log in as root",
        ),
        ("sudo: unable to open /run/sudo", "It said: sudo: unable to open /run/sudo", "sudo -v"),
    ],
)
async def test_every_refusal_has_its_remedy(
    remote: LocalRemote, path: Path, stand_in: FakeSudo, words: str, cause: str, remedy: str
):
    stand_in.refuses(words)
    error = await refusal(remote, path, asking(remote, PASSWORD)[0])
    assert cause in error.cause
    assert words in error.cause
    assert remedy in error.remedy


@pytest.mark.parametrize(
    "words",
    [
        "sudo: a password is required",
        "sudo: a terminal is required to read the password; either use the -S option",
        "sudo: no tty present and no askpass program specified",
        "sudo: sorry, a password is required to run sudo",
    ],
)
async def test_every_way_to_ask_for_a_password_is_understood(
    remote: LocalRemote, stand_in: FakeSudo, words: str
):
    stand_in.refuses(words)
    assert await asking(remote)[0].free() is False


async def test_a_host_without_sudo_says_so(tmp_path: Path):
    empty = tmp_path / "programs"
    empty.mkdir()
    for program in ("sh", "id"):
        (empty / program).symlink_to(f"/usr/bin/{program}")
    with pytest.raises(SudoRefusedError) as refused:
        await asking(LocalRemote(tmp_path, env={"PATH": str(empty)}))[0].free()
    assert refused.value.cause.startswith("The host has no sudo.")


async def test_when_sudo_is_the_way_for_a_file_that_may_not_be_written(
    remote: LocalRemote, stand_in: FakeSudo
):
    answers = {mode: await asking(remote, mode=mode)[0].is_way() for mode in ("no", "auto", "yes")}
    assert answers == {"no": False, "auto": True, "yes": True}
    stand_in.wants(PASSWORD)
    answers = {mode: await asking(remote, mode=mode)[0].is_way() for mode in ("no", "auto", "yes")}
    assert answers == {"no": False, "auto": False, "yes": True}
    stand_in.refuses("engineer is not in the sudoers file.")
    assert await asking(remote, mode="auto")[0].is_way() is False


async def test_auto_asks_root_whether_the_file_can_be_replaced(
    remote: LocalRemote, stand_in: FakeSudo, tmp_path: Path
):
    worker = tmp_path / "eagle_worker.py"
    worker.write_text("")
    gone = str(tmp_path / "gone" / "eagle_worker.py")
    assert await asking(remote, mode="auto")[0].can_replace(str(worker)) is True
    assert await asking(remote, mode="auto")[0].can_replace(gone) is False
    assert await asking(remote, mode="yes")[0].can_replace(gone) is True
    assert await asking(remote, mode="no")[0].can_replace(str(worker)) is False
    stand_in.wants(PASSWORD)
    assert await asking(remote, mode="auto")[0].can_replace(str(worker)) is False


async def test_a_program_runs_as_root(remote: LocalRemote):
    answer = await run_program(asking(remote)[0], "discover_host")
    assert answer["proc"] is True


async def test_steps_of_one_file_go_on_as_root(remote: LocalRemote, path: Path, stand_in: FakeSudo):
    steps = FileSteps(remote, str(path), "s1", asking(remote)[0])
    await steps.take("back_up", SHA256)
    await steps.take("inspect")
    assert len(stand_in.calls()) == 2
    await steps.take("clean", SHA256)
    assert len(stand_in.calls()) == 3

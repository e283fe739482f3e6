"""Guarded files over a real OpenSSH server that is cut off in the middle of every command."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.logins import options_for, target_of
from support.prompters import ScriptedPrompter
from support.sshd import Sshd, find_shell, make_key

from specttui.errors import ConnectionLostError
from specttui.host.files import GuardedFile
from specttui.host.link import Backoff, Link
from specttui.host.remote import CommandResult

pytestmark = pytest.mark.openssh

ORIGINAL = b"class EAGLEWorker:\n    pass\n" * 20_000
PATCHED = ORIGINAL + b"# >>> specttui\n" * 20_000


class CutLink(Link):
    """A link whose server goes down in the middle of the n-th command."""

    server: Sshd
    cut_at = 0
    count = 0

    async def run(self, argv: Sequence[str], **options) -> CommandResult:
        self.count += 1
        running = asyncio.create_task(super().run(argv, **options))
        if self.count == self.cut_at:
            await asyncio.sleep(0.02)
            self.server.drop()
        return await running


async def _patch(guarded: GuardedFile) -> None:
    contents = await guarded.read()
    await guarded.back_up(contents)
    await guarded.replace(PATCHED, contents.sha256)


@pytest.mark.parametrize(
    ("shell", "cut_at"),
    [*(("sh", at) for at in range(7)), ("fish", 0), ("fish", 3), ("tcsh", 0), ("tcsh", 3)],
)
async def test_the_file_is_whole_and_the_session_goes_on(tmp_path: Path, shell: str, cut_at: int):
    key = make_key(tmp_path / "id_ed25519")
    path = tmp_path / "it's a lib" / "worker.py"
    path.parent.mkdir()
    path.write_bytes(ORIGINAL)
    with Sshd(tmp_path / "sshd", key.with_suffix(".pub"), find_shell(shell)) as server:
        link = CutLink(
            target_of(server, server.user),
            ScriptedPrompter(),
            options_for(server, tmp_path, key),
            backoff=Backoff(0.1, 1.5, 0.5),
        )
        link.server, link.cut_at = server, cut_at
        await link.start()
        guarded = GuardedFile(link, str(path), "s1", tmp_path / "local")
        for work in (_patch, GuardedFile.restore):
            try:
                await work(guarded)
            except ConnectionLostError:
                assert path.read_bytes() in {ORIGINAL, PATCHED}
                await asyncio.sleep(0.5)  # what was under way on the host comes to its end
                await work(guarded)
            assert path.read_bytes() == (PATCHED if work is _patch else ORIGINAL)
        assert list(path.parent.iterdir()) == [path]
        assert link.count >= 6
        await link.close()

"""Guarded files: remote files that are only ever replaced whole, after a backup, and can be restored."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from specttui.errors import WorkerFileChangedError, WorkerFileError
from specttui.host.account_steps import FileSteps
from specttui.host.file_records import Backup, FileContents, Replaced
from specttui.host.file_steps import Answer
from specttui.host.leftovers import FileLeftover, Surroundings
from specttui.host.local_copies import LocalCopies
from specttui.host.remote import Remote
from specttui.host.sudo import Sudo

_SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}\Z")


class GuardedFile:
    """One remote file under guard.

    The rules: read and hash; back up beside the file and locally; write the new contents into a temporary
    file beside it, with the same owner and mode, synced; check that the file still hashes as read; rename;
    read back. So at every instant the file is the original or the complete new contents, whatever breaks.
    An advisory lock in the host's cache folder keeps a second session from writing; it is taken by `back_up`
    and `replace`, and must be renewed by `heartbeat` within two minutes.

    Args:
        remote: The host.
        path: The file; links are followed.
        session_id: Letters, digits, dash and underscore; names backups, temporary files and the lock.
        local_folder: Where the local copy of the original goes.
        sudo: For the steps that the account may not do itself; without it they fail.

    Raises:
        WorkerFileError: The session id cannot be part of a file name.
    """

    def __init__(
        self, remote: Remote, path: str, session_id: str, local_folder: Path, sudo: Sudo | None = None
    ) -> None:
        if not _SESSION_ID.match(session_id):
            raise WorkerFileError(
                "A session's name cannot be used in file names",
                cause=repr(session_id),
                remedy="Use letters, digits, dash and underscore, at most 80.",
            )
        self.path = path
        self._session_id = session_id
        self._copies = LocalCopies(local_folder, Path(path).name)
        self._steps = FileSteps(remote, path, session_id, sudo)
        self._backup: Backup | None = None
        self._written: set[str] = set()

    @property
    def backup(self) -> Backup | None:
        """This session's backup, once made."""
        return self._backup

    async def read(self) -> FileContents:
        """Read the file with its owner, mode and hash; changes nothing.

        Raises:
            WorkerFileError: It cannot be read.
            WorkerFileChangedError: It is not there, or was written to while it was read.
        """
        answer = await self._take("read")
        if _sha256(answer.data) != answer["sha256"]:
            raise WorkerFileChangedError(
                f"{self.path} was changed while it was read",
                cause="Its hash and its bytes do not match.",
                remedy="Wait until whoever writes it is done, then try again.",
            )
        return FileContents.parse(self.path, answer)

    async def back_up(self, contents: FileContents | None = None) -> Backup:
        """Copy the original beside itself and into the local folder; what is backed up already stays.

        Args:
            contents: What was read before, to save reading it again. An original that is not the one backed
                up (its package was upgraded) gets a backup of its own.

        Raises:
            WorkerFileChangedError: The file is not what was read.
            WorkerFileError: The copy cannot be made, or another session holds the lock.
            OSError: The local folder cannot be written.
        """
        if self._backup and (contents is None or contents.sha256 in {self._backup.sha256, *self._written}):
            return self._backup
        contents = contents or await self.read()
        local = await self._copies.keep(contents.data, contents.sha256)
        answer = await self._take("back_up", contents.sha256)
        self._backup = Backup(answer["backup"], str(local), contents.sha256)
        return self._backup

    async def replace(self, new: bytes, expected_sha256: str) -> Replaced:
        """Put new contents in place; needs a backup of this session. Safe to repeat after a lost answer.

        Args:
            new: The complete new contents.
            expected_sha256: What the file must hash to at the moment of replacing.

        Raises:
            WorkerFileChangedError: The file is something else by now, or gone; nothing was written.
            WorkerFileError: It cannot be written, or there is no backup; nothing was written.
            ConnectionLostError: The connection broke; the file is whole, in its old or its new state.
        """
        if not self._backup:
            raise WorkerFileError(
                f"{self.path} was not backed up",
                cause="Nothing is written without a backup.",
                remedy="Back it up first.",
            )
        return await self._replace(new, expected_sha256, self._backup.sha256, self._backup.remote_path)

    async def restore(
        self,
        original: bytes | None = None,
        *,
        expected_sha256: str | None = None,
        take_over: bool = False,
    ) -> Replaced:
        """Bring the original back, from this session's backup or from what a dead one left on the host.

        Removes backups, temporary files, records and the lock once the original is proved to be in place.

        Args:
            original: The original, where the caller can prove it (from the block's own hash).
            expected_sha256: What the file is taken to hash to; otherwise only contents that a session noted
                are replaced.
            take_over: Restore even though another session holds the lock and seems alive.

        Raises:
            WorkerFileChangedError: The file holds what no session put there; nothing was written.
            LockedError: Another session holds the lock; nothing was written.
            WorkerFileError: No original is known, or it cannot be written; nothing was written.
            ConnectionLostError: The connection broke; the file is whole, in its old or its new state.
        """
        around = await self.surroundings()
        original_sha256 = self._original_sha256(around, original, expected_sha256)
        if around.sha256 != original_sha256:
            if original is None:
                original = await self._original(around, original_sha256)
            backups = around.backups(original_sha256)
            await self._replace(
                original,
                around.sha256,
                original_sha256,
                backups[0].path if backups else "",
                modified_s=str(backups[0].mtime_s) if backups else "",
                take_over=take_over,
            )
        mistaken = around.mistaken_for(original_sha256)
        answer = await self._take("clean", original_sha256, *mistaken, take_over=take_over)
        self._backup = None
        return Replaced(original_sha256, int(answer["bytecode_left"]))

    async def adopt(self, original_sha256: str = "", *, take_over: bool = False) -> Surroundings:
        """Go on with what another session left for the file as this session's own: its lock and backup.

        Its temporary files are removed, since no session needs a half-written one. Where no backup of the
        original is left, `backup` stays None.

        Args:
            original_sha256: The original behind the file, where the caller knows it; else the records tell.
            take_over: Even though another session holds the lock and seems alive.

        Returns:
            What is around the file now.

        Raises:
            LockedError: Another session holds the lock.
            WorkerFileChangedError: The file is gone.
            WorkerFileError: The backup is damaged, or this account may not read it.
            OSError: The local folder cannot be written.
        """
        around = Surroundings.parse(await self._take("adopt", take_over=take_over))
        original_sha256 = original_sha256 or around.original_of(around.sha256) or around.sha256
        for backup in around.backups(original_sha256)[:1]:
            data = await self._fetch(backup.path, original_sha256)
            local = await self._copies.keep(data, original_sha256)
            self._backup = Backup(backup.path, str(local), original_sha256)
            self._written.add(around.sha256)
        return around

    async def surroundings(self) -> Surroundings:
        """What the file hashes to now, and all that sessions left around it; changes nothing."""
        return Surroundings.parse(await self._take("inspect"))

    async def leftovers(self) -> list[FileLeftover]:
        """What other sessions left for this file: backups, temporary files, records, a lock."""
        around = await self.surroundings()
        return [left for left in around.leftovers if left.session_id != self._session_id]

    async def remove_pycache(self) -> int:
        """Remove the module's own compiled files; gives how many could not be removed."""
        return int((await self._take("bytecode"))["bytecode_left"])

    async def heartbeat(self, *, take_over: bool = False) -> None:
        """Take or renew the lock: to be called at least every minute while the file is patched.

        Raises:
            LockedError: Another session holds it, or has taken it over.
        """
        await self._take("beat", take_over=take_over)

    async def release(self) -> None:
        """Give the lock back, if it is ours."""
        await self._take("release")

    async def _take(self, step: str, *arguments: str, stdin: bytes = b"", take_over: bool = False) -> Answer:
        return await self._steps.take(step, *arguments, stdin=stdin, take_over=take_over)

    async def _replace(
        self,
        new: bytes,
        expected_sha256: str,
        original_sha256: str,
        backup_path: str,
        *,
        modified_s: str = "",
        take_over: bool = False,
    ) -> Replaced:
        arguments = (expected_sha256, _sha256(new), original_sha256, backup_path, modified_s)
        self._written.add(arguments[1])  # also when the answer is lost: it may be in place
        answer = await self._take("replace", *arguments, stdin=new, take_over=take_over)
        return Replaced(answer["sha256"], int(answer["bytecode_left"]))

    def _original_sha256(self, around: Surroundings, original: bytes | None, expected: str | None) -> str:
        """Which contents to bring back, and whether what is there now may be replaced by them."""
        given = _sha256(original) if original is not None else ""
        if expected is None or around.sha256 == expected:
            if given and expected:
                return given
            known = self._known_original(around)
            if known and given in {"", known}:
                return known
        raise WorkerFileChangedError(
            f"{self.path} is not what a session put there",
            cause=f"It hashes to {around.sha256 or 'nothing: it is gone'}. Nothing was written.",
            remedy="Compare it with the backup beside it or in the session folder, and decide by hand.",
        )

    def _known_original(self, around: Surroundings) -> str:
        """The original behind what is there now: from the records, this session, or an equal backup."""
        noted = around.original_of(around.sha256)
        if noted:
            return noted
        if self._backup and around.sha256 in self._written:
            return self._backup.sha256
        noted_nothing = not any(left.what in {"backup", "journal"} for left in around.leftovers)
        # Where a session died before it wrote anything down, the file was not touched yet.
        untouched = noted_nothing and bool(around.leftovers)
        return around.sha256 if untouched or around.backups(around.sha256) else ""

    async def _original(self, around: Surroundings, sha256: str) -> bytes:
        """The original's bytes: the local copy, else the backup on the host."""
        data = await self._copies.find(sha256)
        if data is not None:
            return data
        backups = around.backups(sha256)
        if backups:
            return await self._fetch(backups[0].path, sha256)
        raise WorkerFileError(
            f"The original of {self.path} is not known",
            cause=f"No backup on the host or in {self._copies.folder} hashes to {sha256}.",
            remedy="Reinstall the package that the file belongs to.",
        )

    async def _fetch(self, backup_path: str, sha256: str) -> bytes:
        answer = await self._take("fetch", backup_path)
        if _sha256(answer.data) != sha256:
            raise WorkerFileError(
                f"The backup {backup_path} is damaged",
                cause=f"It does not hash to {sha256}.",
                remedy="Reinstall the package that the file belongs to.",
            )
        return answer.data


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()

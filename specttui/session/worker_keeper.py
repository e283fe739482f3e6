"""Backing up, patching and restoring the worker file: the pure probe over the guarded files of the host."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from specttui.errors import SpecttuiError, WorkerFileChangedError, WorkerFileError
from specttui.events import Clock, FileState
from specttui.host.file_records import Backup, FileContents
from specttui.host.files import GuardedFile
from specttui.host.remote import Remote
from specttui.host.sudo import Sudo
from specttui.probe.import_hook import import_hook_files
from specttui.probe.inspection import Inspection, inspect
from specttui.probe.marker import digest
from specttui.probe.patch import apply, refuse_unless_patchable, remove
from specttui.probe.targets import TARGETS, Target
from specttui.session.api import PatchPreview, ProbeWay
from specttui.session.control_file import ControlFile
from specttui.session.emitter import Emitter
from specttui.session.heartbeats import RELEASE_S, Heartbeats
from specttui.session.hook_folder import HookFolder
from specttui.session.patch_words import diff_lines, module_of, replaceable, warnings_of
from specttui.session.worker_events import checked, stale_bytecode


@dataclass(frozen=True, slots=True)
class _Read:
    contents: FileContents
    inspection: Inspection


class WorkerKeeper:
    """Keeps the worker files of one session.

    Args:
        remote: The host.
        emitter: Is told of every change of a file's state.
        session_id: The session's id.
        local_folder: Where the local backups go.
        sudo: For files that the account may not write; without it those are left alone.
        targets: The workers that the probe knows.
    """

    def __init__(
        self,
        remote: Remote,
        emitter: Emitter,
        session_id: str,
        local_folder: Path,
        *,
        sudo: Sudo | None = None,
        targets: Sequence[Target] = TARGETS,
    ) -> None:
        self._remote = remote
        self._emitter = emitter
        self.session_id = session_id.replace(".", "-")
        self._local_folder = local_folder
        self._sudo = sudo
        self._targets = targets
        self._files: dict[str, GuardedFile] = {}
        self._control = ControlFile(remote, self.session_id)
        self.beats = Heartbeats(emitter)
        self.hook = HookFolder(remote, self.session_id, self.beats)
        self.patched_paths: set[str] = set()

    async def back_up(self, path: str) -> Backup:
        """Copy the file beside itself and into the session folder.

        Raises:
            WorkerFileError: It is patched, or cannot be read or copied.
        """
        read = await self._read(path)
        if read.inspection.state is FileState.PATCHED:
            raise WorkerFileError(
                f"{path} is patched, so it is no original to back up",
                remedy="Restore it first (x); its backup is made again when it is patched.",
            )
        guarded = self._guarded(path)
        backup = await self._back_up(guarded, read)
        self._tell(path, read.inspection.state, read.contents.data, backup)
        return backup

    async def preview(
        self, path: str, worker: str, clock: Clock, way: ProbeWay | None = None
    ) -> PatchPreview:
        """Say what patching would do; changes nothing.

        Raises:
            PatchError: The file cannot take the block.
            WorkerFileError: It cannot be read.
        """
        read = await self._read(path)
        inspection = read.inspection
        already = inspection.state is FileState.PATCHED
        if not already:
            refuse_unless_patchable(inspection)
        original = remove(read.contents.data) if already else read.contents.data
        patched = read.contents.data if already else await self._patched(original, worker, clock)
        backup = self._guarded(path).backup
        chosen = way or await self._way_for(read.contents)
        return PatchPreview(
            path=read.contents.resolved_path,
            worker_class=inspection.worker_class,
            family=inspection.family,
            cycle_method=inspection.cycle_method,
            clock=clock,
            phases_found={name: f"line {at.line}: {at.call}" for name, at in inspection.found.items()},
            phases_missing=dict(inspection.missing),
            diff_lines=diff_lines(path, original, patched),
            original_sha256=digest(original),
            patched_sha256=digest(patched) if chosen == "file" else digest(original),
            backup_path=backup.remote_path if backup else "beside it and in the session folder",
            warnings=warnings_of(read.contents, chosen),
            already_patched=already,
            way=chosen,
        )

    async def patch(self, path: str, worker: str, clock: Clock, way: ProbeWay | None = None) -> ProbeWay:
        """Back the file up if that is still to be done, and put the block in; returns the way taken.

        Raises:
            PatchError: The file cannot take the block.
            WorkerFileError: It cannot be written; it is as it was.
        """
        read = await self._read(path)
        if self._is_shared(path, read):
            self.patched_paths.add(path)
            self._tell(path, FileState.PATCHED, read.contents.data, None)
            return "file"
        refuse_unless_patchable(read.inspection)
        await self._control.write(clock)
        chosen = way or await self._way_for(read.contents)
        if chosen == "import_hook":
            await self.hook.write(await self._hook_files(path, read.contents.data, clock))
        else:
            await self._patch_file(path, worker, clock, read)
        return chosen

    def _is_shared(self, path: str, read: _Read) -> bool:
        """True for an install that hosts share, when this session has just patched it through another one."""
        marker = read.inspection.marker
        return marker is not None and marker.session == self.session_id and path not in self.patched_paths

    async def _patch_file(self, path: str, worker: str, clock: Clock, read: _Read) -> None:
        patched = await self._patched(read.contents.data, worker, clock)
        guarded = self._guarded(path)
        backup = await self._back_up(guarded, read)
        # From here on the file may be patched, also when the connection breaks and the answer is lost.
        self.patched_paths.add(path)
        try:
            replaced = await guarded.replace(patched, read.contents.sha256)
        except WorkerFileError:
            self.patched_paths.discard(path)
            raise
        self._tell(path, FileState.PATCHED, patched, backup)
        self._tell_stale(path, replaced.bytecode_left)

    async def _back_up(self, guarded: GuardedFile, read: _Read) -> Backup:
        async with self.beats.holding(guarded, kept=guarded.backup is not None):
            return await guarded.back_up(read.contents)

    async def _hook_files(self, path: str, source: bytes, clock: Clock) -> dict[str, str]:
        return import_hook_files(
            {module_of(path): source},
            session_id=self.session_id,
            utc=_now(),
            clock=clock,
            control_path=await self._control.path(),
            targets=self._targets,
        )

    async def restore(self, path: str, *, take_over: bool = False, tell: bool = True) -> None:
        """Bring the original bytes back, whoever patched the file, and clear away what sessions left.

        Args:
            path: The file.
            take_over: Also where a session that shows signs of life works on it.
            tell: False for a file that is not the present server's.

        Raises:
            PatchError: The file was changed after it was patched; it was left as it is.
            LockedError: Another session works on it.
            WorkerFileError: No original is known, or the file cannot be written.
        """
        read = await self._read(path)
        guarded = self._guarded(path)
        original, sha256 = _original(read), read.contents.sha256
        patched = read.inspection.state is not FileState.ORIGINAL
        if patched or (await guarded.surroundings()).leftovers:
            async with self.beats.holding(guarded, kept=guarded.backup is not None):
                done = await guarded.restore(original, expected_sha256=sha256, take_over=take_over)
            if patched:
                self._tell_stale(path, done.bytecode_left)
        self.patched_paths.discard(path)
        self.beats.let_go(path)
        if tell:
            self._tell(path, FileState.ORIGINAL, original, None)

    async def adopt(self, path: str, *, take_over: bool = False) -> None:
        """Go on with what another session left for a file: its lock, its backup, its patch.

        Raises:
            PatchError: The file was changed after it was patched; nothing was touched.
            LockedError: Another session works on it, and `take_over` is False.
            WorkerFileError: The file, or its backup, cannot be read.
        """
        read = await self._read(path)
        guarded = self._guarded(path)
        async with self.beats.holding(guarded, kept=guarded.backup is not None):
            await guarded.adopt(digest(_original(read)), take_over=take_over)
        marker = read.inspection.marker
        if marker is not None:
            self.patched_paths.add(path)
            self._tell(path, FileState.PATCHED, read.contents.data, guarded.backup)
            await self._adopt_control(marker.control, take_over=take_over)
        elif guarded.backup is None:
            self.beats.let_go(path)
            await guarded.release()

    async def adopt_hook(self, path: str, control_path: str, *, take_over: bool = False) -> None:
        """Go on with another session's import hook, and the control file that it looks at.

        Raises:
            LockedError: That session shows signs of life, and `take_over` is False.
        """
        await self.hook.adopt(path, take_over=take_over)
        await self._adopt_control(control_path, take_over=take_over)

    async def _adopt_control(self, path: str, *, take_over: bool) -> None:
        with suppress(WorkerFileChangedError):  # its folder is gone: a new one is of no use to that probe
            if path:
                self.beats.hold(await self._control.adopt(path, take_over=take_over))

    async def set_clock(self, clock: Clock) -> None:
        """Tell the running probe to take another clock, or to stop measuring."""
        await self._control.write(clock)

    async def close(self) -> None:
        """Stop showing signs of life and give the locks back; a file that stays patched says so itself."""
        if not self.patched_paths and not self.hook.active:
            with suppress(SpecttuiError, TimeoutError):
                async with asyncio.timeout(RELEASE_S):
                    await self._control.remove()
        await self.beats.close()

    async def _read(self, path: str) -> _Read:
        contents = await self._guarded(path).read()
        return _Read(contents, inspect(contents.data, path, targets=self._targets))

    async def _patched(self, original: bytes, worker: str, clock: Clock) -> bytes:
        return apply(
            original,
            session_id=self.session_id,
            utc=_now(),
            clock=clock,
            control_path=await self._control.path(),
            worker=worker,
            targets=self._targets,
        )

    async def _way_for(self, contents: FileContents) -> ProbeWay:
        """The file itself where it can be replaced, also through sudo; else the import hook."""
        if replaceable(contents):
            return "file"
        if self._sudo is not None and await self._sudo.can_replace(contents.resolved_path):
            return "file"
        return "import_hook"

    def _guarded(self, path: str) -> GuardedFile:
        if path not in self._files:
            self._files[path] = GuardedFile(
                self._remote, path, self.session_id, self._local_folder, self._sudo
            )
        return self._files[path]

    def _tell(self, path: str, state: FileState, data: bytes, backup: Backup | None) -> None:
        self._emitter.emit(checked(path, state, data, backup))

    def _tell_stale(self, path: str, left: int) -> None:
        if left:
            self._emitter.emit(stale_bytecode(path, left))


def _original(read: _Read) -> bytes:
    """The file without a block of ours, proved; see `probe.patch.remove`."""
    if read.inspection.state is FileState.ORIGINAL:
        return read.contents.data
    return remove(read.contents.data)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")

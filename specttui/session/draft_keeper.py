"""Viewing, editing and restoring the draft model's config.json, guarded as the worker file is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from specttui.errors import WorkerFileError
from specttui.events import Launch
from specttui.host.file_records import FileContents
from specttui.host.files import GuardedFile
from specttui.host.remote import Remote
from specttui.host.sudo import Sudo
from specttui.launch import spec_settings
from specttui.launch.argv import parse
from specttui.session.api import DraftConfigView
from specttui.session.draft_config import change_words, checked, layer_ids
from specttui.session.heartbeats import Heartbeats
from specttui.session.launches import Launches

_REVISION = "--speculative-draft-model-revision"

#: Finds the file: a folder on the host, else a repository in the hub's cache, of the revision asked for.
_FIND = """\
if [ -f "$1/config.json" ]; then printf %s "$1/config.json"; exit 0; fi
folder="$2/models--$3"
revision=$(cat "$folder/refs/$4" 2>/dev/null) || revision=$4
[ -f "$folder/snapshots/$revision/config.json" ] || exit 1
printf %s "$folder/snapshots/$revision/config.json"
"""


class DraftKeeper:
    """Keeps the draft's configuration of one session.

    Args:
        remote: The host.
        launches: Knows which draft model runs, or ran last.
        session_id: The session's id.
        local_folder: Where the local backups go.
        sudo: For a file that the account may not write.
        beats: Shows that the session lives; one of its own by default.
    """

    def __init__(
        self,
        remote: Remote,
        launches: Launches,
        session_id: str,
        local_folder: Path,
        sudo: Sudo | None = None,
        beats: Heartbeats | None = None,
    ) -> None:
        self._remote = remote
        self._launches = launches
        self._session_id = session_id.replace(".", "-")
        self._local_folder = local_folder
        self._sudo = sudo
        self._files: dict[str, GuardedFile] = {}
        self._beats = beats or Heartbeats()
        self._changed: dict[str, str] = {}
        self._left: dict[str, str] = {}

    @property
    def changed_paths(self) -> tuple[str, ...]:
        """The files that hold an edit of this session's, or one that it adopted."""
        return tuple(sorted(self._changed))

    def left_behind(self, originals: Mapping[str, str]) -> None:
        """Files that other sessions changed and did not restore, with their originals' sha256."""
        self._left = dict(originals)

    async def view(self) -> DraftConfigView:
        """Read the file; changes nothing.

        Raises:
            WorkerFileError: There is no draft model, or its file cannot be found or read.
        """
        path = await self._path()
        contents = await self._guarded(path).read()
        text = _text(contents)
        return DraftConfigView(
            path=path,
            text=text,
            layer_ids=layer_ids(text),
            sha256=contents.sha256,
            original_sha256=self._originals.get(path, contents.sha256),
            changed=path in self._originals,
        )

    async def edit(self, text: str) -> str:
        """Back up if that is still to be done and put a new text in; returns what changed, in words.

        Raises:
            UsageError: The text is not sound.
            WorkerFileError: The file cannot be written; it is as it was.
        """
        data = checked(text)
        path = await self._path()
        if path in self._left:  # its original is not what it holds now
            await self.adopt(path)
        guarded = self._guarded(path)
        contents = await guarded.read()
        if contents.data == data:
            return "nothing: the file holds this text already"
        async with self._beats.holding(guarded, kept=guarded.backup is not None):
            backup = await guarded.back_up(contents)
        await guarded.replace(data, contents.sha256)
        self._changed[path] = backup.sha256
        return change_words(_text(contents), text)

    async def restore(self) -> tuple[str, ...]:
        """Bring the original of every changed file back; returns which.

        Raises:
            LockedError: Another session works on one.
            WorkerFileError: One is not what a session put there, or cannot be written.
        """
        paths = tuple(sorted(self._originals))
        for path in paths:
            await self.restore_file(path)
        return paths

    async def restore_file(self, path: str, *, take_over: bool = False) -> None:
        """Bring the original of one file back, and clear away what sessions left around it.

        Raises:
            LockedError: Another session works on it, and `take_over` is False.
            WorkerFileError: It is not what a session put there, or cannot be written.
        """
        guarded = self._guarded(path)
        async with self._beats.holding(guarded, kept=guarded.backup is not None):
            await guarded.restore(take_over=take_over)
        self._changed.pop(path, None)
        self._left.pop(path, None)
        self._beats.let_go(path)

    async def adopt(self, path: str, *, take_over: bool = False) -> None:
        """Go on with what another session left for a file: its lock, its backup, its edit.

        Raises:
            LockedError: Another session works on it, and `take_over` is False.
            WorkerFileError: The file, or its backup, cannot be read.
        """
        guarded = self._guarded(path)
        async with self._beats.holding(guarded, kept=guarded.backup is not None):
            around = await guarded.adopt(take_over=take_over)
        original_sha256 = around.original_of(around.sha256)
        if original_sha256 not in {"", around.sha256}:
            self._changed[path] = original_sha256
        self._left.pop(path, None)
        if path not in self._changed and guarded.backup is None:
            self._beats.let_go(path)
            await guarded.release()

    async def close(self) -> None:
        """Stop showing signs of life and give the locks back; the host's notes tell of an edit that stays."""
        await self._beats.close()

    @property
    def _originals(self) -> dict[str, str]:
        return {**self._left, **self._changed}

    async def _path(self) -> str:
        launch = self._launches.speculative or self._launches.current
        draft = spec_settings(launch, self._launches.config).draft_model_path if launch is not None else None
        if launch is None or not draft:
            raise WorkerFileError(
                "No draft model is known",
                cause="The server decodes without speculation, or drafts with the target's own layers.",
                remedy="Restart with a draft model first.",
            )
        result = await self._remote.run(["sh", "-c", _FIND, "sh", *_places(launch, draft)])
        if not result.ok or not result.text:
            raise WorkerFileError(
                f"The configuration of the draft model {draft} was not found",
                cause=f"There is no {draft}/config.json on the host, and none in the hub's cache.",
                remedy="Give the draft model as a folder on the host (--speculative-draft-model-path).",
            )
        return result.text

    def _guarded(self, path: str) -> GuardedFile:
        if path not in self._files:
            self._files[path] = GuardedFile(
                self._remote, path, self._session_id, self._local_folder, self._sudo
            )
        return self._files[path]


def _places(launch: Launch, draft: str) -> tuple[str, str, str, str]:
    """Where a draft model may be: its folder; the hub's cache, its name and revision there."""
    env = launch.env
    home = env.get("HF_HOME") or str(
        PurePosixPath(env.get("XDG_CACHE_HOME") or f"{env.get('HOME', '~')}/.cache") / "huggingface"
    )
    hub = env.get("HF_HUB_CACHE") or env.get("HUGGINGFACE_HUB_CACHE") or f"{home}/hub"
    revision = parse(launch.argv).value(_REVISION) or "main"
    return str(PurePosixPath(launch.cwd or "/") / draft), hub, draft.replace("/", "--"), revision


def _text(contents: FileContents) -> str:
    try:
        return contents.data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise WorkerFileError(
            f"{contents.path} is no text", cause=str(error), remedy="Look at it on the host."
        ) from error

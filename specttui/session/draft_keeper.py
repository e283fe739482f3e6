"""Viewing, editing and restoring the draft model's config.json, guarded as the worker file is."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath

from specttui.errors import SpecttuiError, WorkerFileError
from specttui.events import Launch
from specttui.host.file_records import FileContents
from specttui.host.files import GuardedFile
from specttui.host.remote import Remote
from specttui.host.sudo import Sudo
from specttui.launch import spec_settings
from specttui.launch.argv import parse
from specttui.session.api import DraftConfigView
from specttui.session.draft_config import change_words, checked, layer_ids
from specttui.session.launches import Launches

#: How often a held lock shows that its session lives; it counts as dead after two minutes.
HEARTBEAT_S = 30.0
#: How long leaving may take to give the locks back.
RELEASE_S = 3.0
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
    """

    def __init__(
        self,
        remote: Remote,
        launches: Launches,
        session_id: str,
        local_folder: Path,
        sudo: Sudo | None = None,
    ) -> None:
        self._remote = remote
        self._launches = launches
        self._session_id = session_id.replace(".", "-")
        self._local_folder = local_folder
        self._sudo = sudo
        self._files: dict[str, GuardedFile] = {}
        self._beating: asyncio.Task[None] | None = None
        self._changed: dict[str, str] = {}

    @property
    def changed_paths(self) -> tuple[str, ...]:
        """The files that hold an edit."""
        return tuple(sorted(self._changed))

    def left_behind(self, originals: Mapping[str, str]) -> None:
        """Files that an earlier session changed and did not restore, with their originals' sha256."""
        self._changed = {**originals, **self._changed}

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
            original_sha256=self._changed.get(path, contents.sha256),
            changed=path in self._changed,
        )

    async def edit(self, text: str) -> str:
        """Back up if that is still to be done and put a new text in; returns what changed, in words.

        Raises:
            UsageError: The text is not sound.
            WorkerFileError: The file cannot be written; it is as it was.
        """
        data = checked(text)
        path = await self._path()
        guarded = self._guarded(path)
        contents = await guarded.read()
        if contents.data == data:
            return "nothing: the file holds this text already"
        backup = await guarded.back_up(contents)
        await guarded.replace(data, contents.sha256)
        self._changed[path] = backup.sha256
        self._beat()
        return change_words(_text(contents), text)

    async def restore(self) -> tuple[str, ...]:
        """Bring the original of every changed file back; returns which.

        Raises:
            WorkerFileError: One is not what a session put there, or cannot be written.
        """
        restored = []
        for path in self.changed_paths:
            await self._guarded(path).restore()
            del self._changed[path]
            restored.append(path)
        return tuple(restored)

    async def close(self) -> None:
        """Stop showing signs of life and give the locks back; the host's notes tell of an edit that stays."""
        if self._beating is not None:
            self._beating.cancel()
            with suppress(asyncio.CancelledError):
                await self._beating
            self._beating = None
        with suppress(SpecttuiError, TimeoutError):
            async with asyncio.timeout(RELEASE_S):
                for guarded in self._files.values():
                    if guarded.backup is not None:
                        await guarded.release()

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

    def _beat(self) -> None:
        if self._beating is None:
            self._beating = asyncio.create_task(self._beat_on(), name="draft config lock")

    async def _beat_on(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            for path in self.changed_paths:
                # A beat that does not come through says nothing; the next one may.
                with suppress(SpecttuiError):
                    await self._guarded(path).heartbeat()


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

"""Steps on one guarded file, as the account that was logged in to, or as root for what it may not do."""

from __future__ import annotations

from specttui.host import file_steps
from specttui.host.file_steps import Answer, NotPermittedError
from specttui.host.runner import Runner
from specttui.host.sudo import Sudo, SudoRefusedError

#: Steps that write beside the file.
_WRITING = frozenset({"back_up", "replace", "clean", "adopt", "bytecode"})


class FileSteps:
    """Takes the steps of one session on one file.

    Args:
        remote: The host.
        path: The file.
        session_id: The session.
        sudo: For what the account may not do itself; without it, or with its mode "no", that fails.
    """

    def __init__(self, remote: Runner, path: str, session_id: str, sudo: Sudo | None = None) -> None:
        self._remote = remote
        self._path = path
        self._session_id = session_id
        self._sudo = sudo if sudo is not None and sudo.mode != "no" else None
        self._as_root = False

    async def take(self, step: str, *arguments: str, stdin: bytes = b"", take_over: bool = False) -> Answer:
        """Take one step; see `file_steps.take`.

        Raises:
            NotPermittedError: The account may not do it, and sudo does not help; the remedy says why not.
        """

        async def by(runner: Runner) -> Answer:
            return await file_steps.take(
                runner, step, self._path, self._session_id, *arguments, stdin=stdin, take_over=take_over
            )

        if self._sudo is None:
            return await by(self._remote)
        try:
            # What root wrote only root can clear away, so it goes on as root.
            return await by(self._sudo if self._as_root and step in _WRITING else self._remote)
        except NotPermittedError as denied:
            self._as_root = True
            try:
                return await by(self._sudo)
            except SudoRefusedError as refused:
                cause = f"{denied.cause} {refused.title}: {refused.cause}"
                raise NotPermittedError(denied.title, cause=cause, remedy=refused.remedy) from refused

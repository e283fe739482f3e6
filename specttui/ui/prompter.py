"""Questions of a connection, asked in dialogs."""

from __future__ import annotations

import asyncio
from typing import Any, TypeVar

from textual.app import App
from textual.screen import Screen

from specttui.host.prompts import HostKeyQuestion, SecretQuestion
from specttui.ui.screens.ask import AskScreen
from specttui.ui.screens.confirm import ConfirmScreen

Answer = TypeVar("Answer")


class ScreenPrompter:
    """A `Prompter` whose questions appear as dialogs of a running program.

    It is made before the program, because the session needs it and the program needs the session; the
    program attaches itself. May be called from any task of the program's event loop.
    """

    def __init__(self) -> None:
        self._app: App[Any] | None = None

    def attach(self, app: App[Any]) -> None:
        """Ask on this program's screen from now on."""
        self._app = app

    async def confirm_host_key(self, question: HostKeyQuestion) -> bool:
        """Show the key's fingerprint; True when the user accepts it. No has the focus."""
        lines = (
            f"The key of {question.host}, port {question.port}, is in no known_hosts file.",
            "",
            f"type         {question.key_type}",
            f"fingerprint  {question.fingerprint}",
            "",
            "Compare the fingerprint with one you got in another way. When you accept",
            f"it, it is written to {question.known_hosts_path}.",
        )
        answer = await self._ask(ConfirmScreen("Unknown host key", lines, "Accept"))
        return answer is True

    async def ask_secret(self, question: SecretQuestion) -> str | None:
        """Ask for a secret; what is typed is hidden unless the server wants it shown. None for cancel."""
        screen = AskScreen(
            question.title,
            question.prompt,
            "Used for this login only.",
            hidden=not question.echo,
            empty_allowed=True,
        )
        return await self._ask(screen)

    async def _ask(self, screen: Screen[Answer]) -> Answer | None:
        """Push a dialog from the program's own context and wait for its answer."""
        app = self._app
        if app is None or not app.is_running:
            return None
        answer: asyncio.Future[Answer | None] = asyncio.get_running_loop().create_future()

        def settle(result: Answer | None) -> None:
            if not answer.done():
                answer.set_result(result)

        app.call_later(app.push_screen, screen, settle)
        return await answer

"""What the flows of commands need of the program: the session, dialogs, and a place for messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from textual.screen import Screen

from specttui.launch.edits import Preset
from specttui.session.api import SessionApi

Answer = TypeVar("Answer")


class Desk(Protocol):
    """The program as a flow sees it."""

    @property
    def session(self) -> SessionApi:
        """The session whose commands are called."""
        ...

    @property
    def presets(self) -> Sequence[Preset]:
        """What the restart dialog offers."""
        ...

    async def ask(self, screen: Screen[Answer]) -> Answer | None:
        """Show a dialog and wait for its answer; None when it was cancelled."""
        ...

    def tell(self, message: str, title: str = "") -> None:
        """Show a short message that goes away by itself; plain text."""
        ...

    async def connect_again(self) -> bool:
        """Start the session again when it is not connected; False when it is, or cannot be."""
        ...

    def resume(self) -> None:
        """Unfreeze the screen: something is about to happen."""
        ...

    def leave(self) -> None:
        """End the program."""
        ...

"""What a connection may ask of the person at the keyboard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class HostKeyQuestion:
    """An unknown host key: accept it and write it to known_hosts?"""

    host: str
    port: int
    key_type: str
    fingerprint: str
    known_hosts_path: str


@dataclass(frozen=True, slots=True)
class SecretQuestion:
    """A password, a key's passphrase, or one round's question of keyboard-interactive login."""

    title: str
    prompt: str
    echo: bool = False


class Prompter(Protocol):
    """Asks the user; the screen shows a dialog, the command line asks in the terminal."""

    async def confirm_host_key(self, question: HostKeyQuestion) -> bool:
        """True when the user accepts the key."""
        ...

    async def ask_secret(self, question: SecretQuestion) -> str | None:
        """The answer, or None when the user cancelled."""
        ...


class RefusingPrompter:
    """Answers no to everything: for scripts, where nobody is there to ask."""

    async def confirm_host_key(self, question: HostKeyQuestion) -> bool:
        """No unknown key is accepted unasked."""
        del question
        return False

    async def ask_secret(self, question: SecretQuestion) -> str | None:
        """There is nobody to ask."""
        del question
        return None

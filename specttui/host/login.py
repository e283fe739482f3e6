"""Our side of one login: judging the host's key and answering for keys, passwords and challenges."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import asyncssh

from specttui.host.host_keys import HostRecord, KnownHostLine, Verdict
from specttui.host.identities import Identities
from specttui.host.prompts import Prompter, SecretQuestion

_MAX_TRIES = 3


@dataclass(slots=True)
class LoginMemory:
    """What the user answered, kept in memory only, so that a reconnect does not ask again.

    One-time codes are not kept: they would not work twice. Host keys (type and data) are kept by the name
    they are on record under, for hosts whose known_hosts file cannot be written.
    """

    accepted_keys: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    passphrases: dict[str, str] = field(default_factory=dict)
    passwords: dict[str, str] = field(default_factory=dict)


class Asker:
    """Asks the user, and keeps the connection's deadline from running while an answer is awaited.

    Attributes:
        cancelled: The user cancelled a question: no further one is asked during this login.
    """

    def __init__(self, prompter: Prompter, deadline: asyncio.Timeout, patience_s: float) -> None:
        self._prompter = prompter
        self._deadline = deadline
        self._patience_s = patience_s
        self.cancelled = False

    async def secret(self, title: str, prompt: str, *, echo: bool = False) -> str | None:
        """The answer to a question, or None when it, or one before, was cancelled."""
        if self.cancelled:
            return None
        async with self._paused():
            answer = await self._prompter.ask_secret(SecretQuestion(title, prompt, echo))
        self.cancelled = answer is None
        return answer

    @asynccontextmanager
    async def _paused(self) -> AsyncIterator[None]:
        self._deadline.reschedule(None)
        try:
            yield
        finally:
            if not self._deadline.expired():
                self._deadline.reschedule(asyncio.get_running_loop().time() + self._patience_s)


class Login(asyncssh.SSHClient):
    """asyncssh's callbacks during a login, and what failed, for the error message.

    Attributes:
        record: What is on record about the host's key.
        presented: The host's key, if it was not trusted, with the verdict and the deciding line on record.
        identities: The keys to try, filled in before the login.
        authority: A certificate authority that is not trusted, if the host showed its certificate.
        tried: The ways of proving who we are that were tried, in words.
        accepted_methods: The authentication methods the server named.
        lost: Set when the connection is gone; `lost_cause` says why, as far as known.
    """

    def __init__(self, account: str, record: HostRecord, memory: LoginMemory, asker: Asker) -> None:
        self._account = account
        self.record = record
        self._memory = memory
        self._asker = asker
        self._connection: asyncssh.SSHClientConnection | None = None
        self._password_tries = 0
        self._challenge_tries = 0
        self.presented: tuple[asyncssh.SSHKey, Verdict, KnownHostLine | None] | None = None
        self.authority: asyncssh.SSHKey | None = None
        self.identities = Identities()
        self.tried: list[str] = []
        self.accepted_methods: list[str] = []
        self.lost = asyncio.Event()
        self.lost_cause = ""

    def connection_made(self, conn: asyncssh.SSHClientConnection) -> None:
        """The transport is up; the host's key comes next."""
        self._connection = conn

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone, in whatever way."""
        self.lost_cause = f"{str(exc).rstrip('.')}." if exc else "It was closed."
        self.lost.set()

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
        """Called for a key that is not on record as it is; remembers it for the question or the refusal."""
        del host, addr, port
        verdict, line = self.record.judge(key.public_data)
        self.presented = (key, verdict, line)
        return verdict is Verdict.TRUSTED

    def validate_host_ca_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
        """Called for a host certificate whose authority is not on record."""
        del host, addr, port
        self.authority = key
        return False

    async def public_key_auth_requested(self) -> asyncssh.SSHKeyPair | None:
        """Called for the next key to try; None when there is none left."""
        self._note_methods()
        if self.identities.keys:
            identity = self.identities.keys.pop(0)
            self._note_tried(identity.name)
            return identity.pair
        while self.identities.late_files:
            path = self.identities.late_files.pop(0)
            passphrase = await self.passphrase(str(path))
            if passphrase is not None:
                self._note_tried(f"key {path}")
                return asyncssh.load_keypairs([path], passphrase)[0]
        return None

    async def passphrase(self, path: str) -> str | None:
        """The passphrase of a private key, asked up to three times; None when cancelled or never right."""
        remembered = self._memory.passphrases.get(path)
        if remembered is not None:
            return remembered
        for attempt in range(_MAX_TRIES):
            again = "Not the right passphrase. " if attempt else ""
            answer = await self._asker.secret("Key is encrypted", f"{again}Passphrase for {path}")
            if answer is None:
                return None
            if await asyncio.to_thread(_opens, path, answer):
                self._memory.passphrases[path] = answer
                return answer
        return None

    async def password_auth_requested(self) -> str | None:
        """Called for each try at a password; the one that worked before is tried first, once."""
        self._note_methods()
        self._password_tries += 1
        remembered = self._memory.passwords.pop(self._account, None)
        if self._password_tries == 1 and remembered is not None:
            self._memory.passwords[self._account] = remembered
            return remembered
        if self._password_tries > _MAX_TRIES:
            return None
        again = "Permission denied. " if self._password_tries > 1 else ""
        answer = await self._asker.secret(
            f"Log in as {self._account}", f"{again}Password for {self._account}"
        )
        if answer is not None:
            self._note_tried("password")
            self._memory.passwords[self._account] = answer
        return answer

    def kbdint_auth_requested(self) -> str | None:
        """Called for each try at keyboard-interactive login; empty text leaves the choice to the server."""
        self._note_methods()
        self._challenge_tries += 1
        return "" if self._challenge_tries <= _MAX_TRIES and not self._asker.cancelled else None

    async def kbdint_challenge_received(
        self, name: str, instructions: str, lang: str, prompts: Sequence[tuple[str, bool]]
    ) -> list[str] | None:
        """Called for every round of questions; a round without any only shows a text."""
        del lang
        answers: list[str] = []
        for prompt, echo in prompts:
            title = name or f"Log in as {self._account}"
            text = "\n".join(part for part in (instructions.strip(), prompt.strip()) if part)
            answer = await self._asker.secret(title, text, echo=echo)
            if answer is None:
                return None
            answers.append(answer)
        if prompts:
            self._note_tried("keyboard-interactive")
        return answers

    def forget_password(self) -> None:
        """The login failed: what was typed is not to be tried again."""
        self._memory.passwords.pop(self._account, None)

    def _note_methods(self) -> None:
        methods = self._connection.get_server_auth_methods() if self._connection else ()
        self.accepted_methods += [method for method in methods if method not in self.accepted_methods]

    def _note_tried(self, what: str) -> None:
        if what not in self.tried:
            self.tried.append(what)


def _opens(path: str, passphrase: str) -> bool:
    try:
        asyncssh.read_private_key(path, passphrase)
    except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError, OSError):
        return False
    return True

"""The keys to log in with: which files, which of them the agent may offer, and which need a passphrase."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import asyncssh

from specttui.host.ssh_config import Route
from specttui.host.target import ConnectOptions

PassphraseAsker = Callable[[str], Awaitable[str | None]]

_DEFAULT_FILES = ("id_ed25519_sk", "id_ecdsa_sk", "id_ed25519", "id_ecdsa", "id_rsa", "id_dsa")


@dataclass(frozen=True, slots=True)
class Identity:
    """A key with its name for messages."""

    name: str
    pair: asyncssh.SSHKeyPair

    @property
    def blob(self) -> bytes:
        """The public key's data."""
        return self.pair.public_data


@dataclass(slots=True)
class Identities:
    """Keys in the order to try: `keys`, the agent's first, then `late_files`.

    Attributes:
        keys: Those of the agent and of files; an encrypted one asks for its passphrase only when the host
            would take it.
        late_files: Encrypted files that do not say which key they hold: opened last.
        unusable: What is wrong with the agent or with files that were named, for messages.
        agent: The open agent, to be closed after the login.
    """

    keys: list[Identity] = field(default_factory=list)
    late_files: list[Path] = field(default_factory=list)
    unusable: list[str] = field(default_factory=list)
    agent: asyncssh.SSHAgentClient | None = None

    async def close(self) -> None:
        """Let go of the agent."""
        if self.agent:
            self.agent.close()
            await self.agent.wait_closed()


async def load(route: Route, options: ConnectOptions, passphrase: PassphraseAsker) -> Identities:
    """Gather the keys for a route.

    Args:
        route: What the configuration says about the host.
        options: Names the files instead, if `client_keys` is given.
        passphrase: Asked for the passphrase of a file, when it is needed.
    """
    loop = asyncio.get_running_loop()
    found = await asyncio.to_thread(_from_files, route, options, passphrase, loop)
    only = route.identities_only or options.client_keys is not None
    agent_keys = await _from_agent(route, found)
    if only:
        named = {key.blob for key in found.keys} | _public_blobs(_files(route, options))
        agent_keys = [key for key in agent_keys if key.blob in named]
    held = {key.blob for key in agent_keys}
    found.keys = agent_keys + [key for key in found.keys if key.blob not in held]
    return found


async def _from_agent(route: Route, found: Identities) -> list[Identity]:
    if not route.agent_path:
        return []
    try:
        found.agent = await asyncssh.connect_agent(route.agent_path)
        pairs = await found.agent.get_keys()
        return [Identity(f"agent key {pair.get_comment() or 'without a name'}", pair) for pair in pairs]
    except (OSError, ValueError) as error:
        found.unusable.append(f"The SSH agent at {route.agent_path} cannot be used: {error}.")
        return []


def _from_files(
    route: Route, options: ConnectOptions, passphrase: PassphraseAsker, loop: asyncio.AbstractEventLoop
) -> Identities:
    found = Identities()
    for path, named in _files(route, options):
        try:
            found.keys += [Identity(f"key {path}", pair) for pair in _load_one(path, route, passphrase, loop)]
        except FileNotFoundError:
            if named and not _beside(path, ".pub").exists():
                found.unusable.append(f"{path} does not exist.")
        except OSError as error:
            found.unusable.append(f"{path} cannot be read: {error.strerror}.")
        except ValueError as error:
            if str(error).startswith("Passphrase"):
                found.late_files.append(path)
            elif named:
                found.unusable.append(f"{path} cannot be used: {error}.")
    return found


def _load_one(
    path: Path, route: Route, passphrase: PassphraseAsker, loop: asyncio.AbstractEventLoop
) -> Sequence[asyncssh.SSHKeyPair]:
    """A file's keys. An encrypted one whose public half can be read is opened when it is to sign.

    Raises:
        ValueError: It is no key, or encrypted without saying which key it holds ("Passphrase must ...").
    """
    try:
        return asyncssh.load_keypairs([path], None, route.certificate_files)
    except asyncssh.KeyImportError as error:
        if not str(error).startswith("Passphrase") or not _public_blobs([(path, True)]):
            raise
    # asyncssh takes a function here (documented), which its annotation leaves out.
    return asyncssh.load_keypairs([path], cast("str", passphrase), route.certificate_files, loop=loop)


def _files(route: Route, options: ConnectOptions) -> list[tuple[Path, bool]]:
    """Files with whether somebody named them (or they are just the ones that are usual)."""
    named = options.client_keys if options.client_keys is not None else route.identity_files
    if named is not None:
        return [(path, True) for path in named]
    folder = Path("~/.ssh").expanduser()
    return [(folder / name, False) for name in _DEFAULT_FILES if os.access(folder / name, os.R_OK)]


def _public_blobs(files: list[tuple[Path, bool]]) -> set[bytes]:
    """The public keys beside the private ones: a named key may live in the agent alone."""
    blobs = set()
    for path, _ in files:
        for candidate in (_beside(path, ".pub"), path):
            with contextlib.suppress(OSError, ValueError):
                blobs.add(asyncssh.read_public_key(candidate).public_data)
    return blobs


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)

"""An SSH server whose shells talk, and a key that may log in there."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.ssh_server import SshServer
from support.sshd import make_key

NOISE = b"\x1b[33mWelcome!\x1b[0m quota: 90 %\n"


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """The private key."""
    return make_key(tmp_path / "id_ed25519")


@pytest.fixture
async def server(tmp_path: Path, key: Path) -> AsyncIterator[SshServer]:
    """The server; its logins begin with a coloured notice."""
    async with SshServer(tmp_path / "server", (key.with_suffix(".pub"),), start_up_text=NOISE) as running:
        yield running

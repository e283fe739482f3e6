"""A fake server that belongs to another account, with values that would harm a careless shell."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.accounts import Account
from support.fake_sglang import FakeServer, Owner, start_fake

#: Outside of anybody's home, unlike the tests' own.
PYTHON = shutil.which("python3", path="/usr/bin:/usr/local/bin") or ""
HOSTILE = 'it\'s "quoted"\n$(touch /tmp/specttui-owned) `id` \\ ${HOME} ;&| *\té▇'
ENV = {
    "PATH": "/usr/bin:/bin:/opt/a b",
    "LD_LIBRARY_PATH": "/opt/$ORIGIN/it's",
    "LD_PRELOAD": "libm.so.6",
    "HF_TOKEN": "hf_secret_of_the_owner",
    "HOSTILE": HOSTILE,
    "EMPTY": "",
}


#: What must never be on a command line of ours.
SECRETS = ("hf_secret_of_the_owner", "sk-secret")


@contextmanager
def server_of(owner: Account | None, folder: Path, **fake: str) -> Iterator[FakeServer]:
    """A server of an account, None for root, with its log in a folder of its own.

    Args:
        owner: Whose it is.
        folder: A folder that everybody may enter.
        fake: FAKE_* variables, see `start_fake`.
    """
    home = owner.home if owner else Path("/root")
    numbers = (owner.uid, owner.gid) if owner else (0, 0)
    env = {**ENV, "HOME": f"{home}/not the login's"}
    flags = ("--model-path", HOSTILE, "--api-key", "sk-secret", "--tp-size", "2")
    settings = {f"FAKE_{name}": value for name, value in fake.items()}
    server = start_fake(folder, *flags, fake=settings, owner=Owner(PYTHON, env, *numbers))
    os.chown(server.log, *numbers)
    try:
        yield server
    finally:
        server.kill()


def argv_of(pid: int) -> list[str]:
    """The words of a process, as the kernel has them."""
    return Path(f"/proc/{pid}/cmdline").read_bytes().decode()[:-1].split("\0")


def env_of(pid: int) -> dict[str, str]:
    """The initial environment of a process."""
    items = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    return dict(item.split("=", 1) for item in items if item)


def numbers_of(pid: int) -> dict[str, list[str]]:
    """The user and group numbers of a process: real, effective, saved, of the file system; and all groups."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    return {name: fields[name].split() for name in ("Uid", "Gid", "Groups")}

"""A demo host in a process of its own: what it costs to be the host is not in what a benchmark measures."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from specttui.demo.host import DemoHost
from specttui.host.target import ConnectOptions, Target
from specttui.session.options import SessionOptions


@dataclass(frozen=True)
class HostFacts:
    """How to log in to the host, and where its server's log is."""

    host: str
    port: int
    username: str
    client_key_path: str
    known_hosts_path: str
    server_port: int
    log_path: str
    home: str

    def options(
        self, *, port: int | None = None, known_hosts: Path | None = None, log_path: str | None = None
    ) -> SessionOptions:
        """A session's options, perhaps through another port or with another log."""
        return SessionOptions(
            target=Target(host=self.host, user=self.username, port=port or self.port),
            connect=ConnectOptions(
                use_ssh_config=False,
                use_agent=False,
                client_keys=(Path(self.client_key_path),),
                known_hosts_paths=(known_hosts or Path(self.known_hosts_path),),
            ),
            server_port=self.server_port,
            log_path=log_path,
            name="benchmark",
        )


@contextmanager
def separate_host() -> Iterator[HostFacts]:
    """A demo host with a ready server and no traffic of its own, until the context ends."""
    process = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        if not line:
            raise SystemExit("The demo host did not come up.")
        yield HostFacts(**json.loads(line))
    finally:
        process.stdin.close()
        process.wait(timeout=60)


async def _serve() -> None:
    async with DemoHost(profile="h200", speed=20, traffic=0, steps=3) as demo:
        await demo.wait_ready(60)
        target = demo.demo_target()
        facts = HostFacts(
            host=target.host,
            port=target.port,
            username=target.username,
            client_key_path=str(target.client_key_path),
            known_hosts_path=str(target.known_hosts_path),
            server_port=demo.server_port,
            log_path=str(demo.log_path),
            home=str(demo.home),
        )
        print(json.dumps(asdict(facts)), flush=True)
        await asyncio.to_thread(sys.stdin.buffer.read)


if __name__ == "__main__":
    asyncio.run(_serve())

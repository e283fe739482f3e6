"""From a target to a logged-in SSH connection: configuration, jump hosts, host keys, keys, questions."""

from __future__ import annotations

import asyncio
import base64
import contextlib
from contextlib import AsyncExitStack
from dataclasses import dataclass

import asyncssh
from asyncssh.public_key import get_default_certificate_algs, get_default_public_key_algs

from specttui.errors import UsageError
from specttui.host import host_keys, identities, ssh_config
from specttui.host.failures import explain, no_answer, unknown_key
from specttui.host.host_keys import HostRecord, Marker, Verdict
from specttui.host.login import Asker, Login, LoginMemory
from specttui.host.prompts import HostKeyQuestion, Prompter
from specttui.host.proxy import ProxyCommand
from specttui.host.ssh_config import Route
from specttui.host.target import ConnectOptions, Target

_KnownKeys = tuple[list[asyncssh.SSHKey], list[asyncssh.SSHKey], list[asyncssh.SSHKey]]


@dataclass(frozen=True, slots=True)
class Dialed:
    """A logged-in connection and all that carries it; `carriers` closes jump hosts and proxy programs."""

    route: Route
    ssh: asyncssh.SSHClientConnection
    login: Login
    carriers: AsyncExitStack

    async def close(self) -> None:
        """Close the connection, then what carried it."""
        self.ssh.close()
        try:
            async with asyncio.timeout(2):
                await self.ssh.wait_closed()
        except TimeoutError:
            self.ssh.abort()
        await self.carriers.aclose()


@dataclass(frozen=True, slots=True)
class Dialer:
    """Opens connections for one user: who is asked, how to connect, and what was answered before."""

    prompter: Prompter
    options: ConnectOptions
    memory: LoginMemory

    async def dial(
        self, target: Target, passed: tuple[Target, ...] = (), via: Dialed | None = None
    ) -> Dialed:
        """Connect and log in.

        Args:
            target: Where to.
            passed: The targets whose jump chain led here, to notice a loop.
            via: A connection to tunnel through, instead of what the configuration says.

        Raises:
            ConfigError: The configuration cannot be used; names file and line.
            ConnectionFailedError: The host cannot be reached or does not let us in; says why.
        """
        route = await ssh_config.route(target, self.options)
        async with AsyncExitStack() as carriers:
            if via is None and route.proxy_jump:
                via = await self._jump(route.proxy_jump, (*passed, target), carriers)
            try:
                ssh, login = await self._connect(route, via, carriers)
            except _KeyNotKnownError as unknown:
                await self._accept(route, unknown.key)
                ssh, login = await self._connect(route, via, carriers)
            return Dialed(route, ssh, login, carriers.pop_all())

    async def _jump(self, jump: str, passed: tuple[Target, ...], carriers: AsyncExitStack) -> Dialed:
        """Open the chain of jump hosts, each through the one before."""
        via: Dialed | None = None
        for hop in self._hops(jump, passed):
            via = await self.dial(hop, passed, via)
            carriers.push_async_callback(via.close)
        assert via is not None
        return via

    def _hops(self, jump: str, passed: tuple[Target, ...]) -> list[Target]:
        if "%" in jump:
            cause = "tokens such as %r are not expanded in ProxyJump"
            raise ssh_config.proxy_jump_error(jump, cause, self.options)
        try:
            hops = [Target.parse(hop) for hop in jump.split(",")]
        except UsageError as error:
            raise ssh_config.proxy_jump_error(jump, error.cause, self.options) from error
        for hop in hops:
            if hop in passed:
                raise ssh_config.proxy_jump_error(jump, f"{hop} is reached through itself", self.options)
        return hops

    async def _connect(
        self, route: Route, via: Dialed | None, carriers: AsyncExitStack
    ) -> tuple[asyncssh.SSHClientConnection, Login]:
        """One attempt, in bounded time except for questions to the user."""
        patience_s = route.connect_timeout_s or self.options.connect_timeout_s
        record = host_keys.look_up(route.known_hosts, route.record_name, route.record_port)
        proxy = None
        if via is None and route.proxy_command:
            proxy = await ProxyCommand.start(route.proxy_command)
            carriers.push_async_callback(proxy.close)
        try:
            async with asyncio.timeout(patience_s) as deadline:
                asker = Asker(self.prompter, deadline, patience_s)
                login = Login(f"{route.user}@{route.host}", record, self.memory, asker)
                return await self._log_in(route, via, proxy, login), login
        except (asyncssh.Error, OSError, ValueError) as error:
            extra = await _extra(login, proxy)
            if deadline.expired():
                raise no_answer(route, patience_s, extra) from error
            login.forget_password()
            raise self._failure(error, route, login, extra) from error

    async def _log_in(
        self, route: Route, via: Dialed | None, proxy: ProxyCommand | None, login: Login
    ) -> asyncssh.SSHClientConnection:
        login.identities = await identities.load(route, self.options, login.passphrase)
        known = self._known_keys(route, login.record)
        try:
            return await asyncssh.connect(
                route.host,
                route.port,
                username=route.user,
                config=[str(path) for path in ssh_config.config_paths(self.options)],
                tunnel=via.ssh if via else None,
                sock=proxy.sock if proxy else None,
                proxy_command=None,
                client_factory=lambda: login,
                client_keys=None,  # Login hands out the keys
                host_key_alias=route.record_name,
                known_hosts=lambda *_: known,
                server_host_key_algs=() if route.host_key_algorithms else _algorithms(known),
                connect_timeout=None,
                login_timeout=0,
                keepalive_interval=self.options.keepalive_interval_s,
                keepalive_count_max=self.options.keepalive_count,
                send_env=None,
            )
        finally:
            await login.identities.close()

    def _known_keys(self, route: Route, record: HostRecord) -> _KnownKeys:
        """Host keys, authorities and revoked keys, as asyncssh takes them."""
        accepted = self.memory.accepted_keys.get(_record_name(route))
        host = [*record.blobs(Marker.HOST), *([accepted] if accepted else [])]
        return _keys(host), _keys(record.blobs(Marker.AUTHORITY)), _keys(record.blobs(Marker.REVOKED))

    def _failure(self, error: Exception, route: Route, login: Login, extra: str) -> Exception:
        if login.presented is not None and _record_name(route) not in self.memory.accepted_keys:
            key, verdict, _ = login.presented
            if verdict is Verdict.UNKNOWN and isinstance(error, asyncssh.HostKeyNotVerifiable):
                return _KeyNotKnownError(key)
        return explain(error, route, login, extra)

    async def _accept(self, route: Route, key: asyncssh.SSHKey) -> None:
        """Ask whether an unknown key is right; if so, put it on record.

        Raises:
            HostKeyUnknownError: The user does not accept it.
        """
        key_type, path = key.get_algorithm(), next(iter(route.known_hosts), None)
        question = HostKeyQuestion(
            host=route.host,
            port=route.port,
            key_type=key_type,
            fingerprint=host_keys.fingerprint(key.public_data),
            known_hosts_path=str(path) if path else "",
        )
        if not await self.prompter.confirm_host_key(question):
            raise unknown_key(route, key)
        self.memory.accepted_keys[_record_name(route)] = (key_type, key.public_data)
        if path is not None:
            # Where the file cannot be written the key holds for as long as we run.
            with contextlib.suppress(OSError):
                host_keys.add(path, route.record_name, route.record_port, key_type, key.public_data)


class _KeyNotKnownError(Exception):
    """The host's key is on record nowhere: to be asked about."""

    def __init__(self, key: asyncssh.SSHKey) -> None:
        super().__init__()
        self.key = key


async def _extra(login: Login, proxy: ProxyCommand | None) -> str:
    """What else may explain a failure: key files that could not be used, a proxy program's complaints."""
    extra = list(login.identities.unusable)
    if proxy:
        await proxy.close()
        if proxy.complaints:
            extra.append(f"The ProxyCommand said: {proxy.complaints}")
    return " ".join(extra)


def _record_name(route: Route) -> str:
    return host_keys.host_name(route.record_name, route.record_port)


def _keys(lines: list[tuple[str, bytes]]) -> list[asyncssh.SSHKey]:
    """Lines of known_hosts as keys; those of kinds that asyncssh does not know are left out, as in ssh."""
    keys = []
    for key_type, blob in lines:
        with contextlib.suppress(ValueError):
            keys.append(asyncssh.import_public_key(f"{key_type} {base64.b64encode(blob).decode()}"))
    return keys


def _algorithms(known: _KnownKeys) -> list[str]:
    """Host key algorithms in the order to ask for.

    Those we can check come first, so that a host with several keys shows the one on record; certificates are
    asked for only where an authority is on record.
    """
    host, authorities, _ = known
    checked = [algorithm for key in host for algorithm in key.sig_algorithms]
    certificates = get_default_certificate_algs() if authorities else []
    ordered = dict.fromkeys([*certificates, *checked, *get_default_public_key_algs()])
    return [algorithm.decode() for algorithm in ordered]

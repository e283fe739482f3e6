"""The user's ssh configuration, read through asyncssh, with what asyncssh would leave unsaid.

asyncssh takes most of OpenSSH's configuration, refuses some values that OpenSSH takes, and ignores settings
without a word. This room turns refusals into errors that name file and line, and ignored settings that matter
into notices.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import cast

import asyncssh

from specttui.errors import ConfigError
from specttui.host.target import ConnectOptions, Target

_REMEDY = "Correct the line, or connect without the ssh configuration: --no-ssh-config."
_SYSTEM_CONFIG = Path("/etc/ssh/ssh_config")
_SYSTEM_KNOWN_HOSTS = (Path("/etc/ssh/ssh_known_hosts"), Path("/etc/ssh/ssh_known_hosts2"))
# What asyncssh says without a place: how its message reads, what the line holds, how we say it.
_WITHOUT_PLACE = (
    (
        re.compile(r"Invalid environment expansion: (?P<name>.*)\Z"),
        "${{{}}}",
        "the environment variable {} is not set",
    ),
    (re.compile(r"Invalid token expansion: (?P<name>.*)\Z"), "%{}", "the token %{} is not known here"),
)
_MAX_INCLUDE_DEPTH = 16


@dataclass(frozen=True, slots=True)
class ConfigLine:
    """One setting as written, with its place."""

    path: Path
    line_number: int
    keyword: str
    value: str

    @property
    def place(self) -> str:
        """File and line, as shown to the user."""
        return f"{self.path}, line {self.line_number}"


@dataclass(frozen=True, slots=True)
class Route:
    """What the configuration says about reaching and entering one host.

    `record_name` is the name its key is on record under; `identity_files` is None where none are configured.
    """

    host: str
    port: int
    user: str
    record_name: str
    record_port: int
    proxy_jump: str | None
    proxy_command: str | None
    known_hosts: tuple[Path, ...]
    identity_files: tuple[Path, ...] | None
    certificate_files: tuple[Path, ...]
    identities_only: bool
    agent_path: str | None
    host_key_algorithms: str | None
    connect_timeout_s: float | None


def config_paths(options: ConnectOptions) -> list[Path]:
    """The configuration files to read, the user's before the system's; only those that can be read."""
    if not options.use_ssh_config:
        return []
    paths = options.ssh_config_paths
    if paths is None:
        paths = (Path("~/.ssh/config").expanduser(), _SYSTEM_CONFIG)
    return [path for path in paths if os.access(path, os.R_OK)]


async def route(target: Target, options: ConnectOptions) -> Route:
    """Resolve a target through the configuration.

    Raises:
        ConfigError: A value cannot be used; names file and line.
    """
    paths = config_paths(options)
    try:
        resolved = await asyncssh.SSHClientConnectionOptions.construct(
            host=target.host,
            port=target.port if target.port is not None else (),
            username=target.user if target.user is not None else (),
            config=[str(path) for path in paths],
            client_keys=None,
            known_hosts=None,
        )
    except (ValueError, OSError) as error:
        raise _unusable(str(error), paths) from error
    return _to_route(cast("asyncssh.SSHClientConnectionOptions", resolved), target, options)


def notices(target: Target, options: ConnectOptions) -> tuple[str, ...]:
    """What the configuration asks for this host and does not get, one sentence each, with file and line."""
    said: dict[str, str] = {}
    applies = True
    for line in _all_lines(config_paths(options)):
        if line.keyword == "host":
            applies = _names_host(line.value, target.host)
        elif line.keyword == "match":
            applies = True  # which of these hold only asyncssh can tell: better one notice too many
        notice = _notice(line) if applies else ""
        if notice:
            said.setdefault(line.keyword, f"{line.place}: {notice}")
    return tuple(said.values())


def proxy_jump_error(jump: str, cause: str, options: ConnectOptions) -> ConfigError:
    """A ProxyJump that cannot be followed, with its place in the configuration."""
    places = [
        line.place
        for line in _all_lines(config_paths(options))
        if line.keyword == "proxyjump" and line.value == jump
    ]
    return ConfigError(
        f"The jump host {jump!r} of the ssh configuration cannot be used",
        cause=": ".join([*places[:1], cause]),
        remedy=_REMEDY,
    )


def _to_route(
    resolved: asyncssh.SSHClientConnectionOptions, target: Target, options: ConnectOptions
) -> Route:
    config = resolved.config
    alias = resolved.host_key_alias
    host = resolved.host or target.host
    identity_files = cast("list[str] | None", config.get("IdentityFile"))
    timeout_s = cast("int | None", config.get("ConnectTimeout"))
    return Route(
        host=host,
        port=resolved.port,
        user=resolved.username,
        record_name=alias or host,
        record_port=22 if alias else resolved.port,
        proxy_jump=cast("str | None", config.get("ProxyJump")),
        proxy_command=cast("str | None", config.get("ProxyCommand")),
        known_hosts=options.known_hosts_paths or _known_hosts(config),
        identity_files=None if identity_files is None else _expanded(identity_files),
        certificate_files=_expanded(cast("list[str]", config.get("CertificateFile", []))),
        identities_only=bool(config.get("IdentitiesOnly")),
        agent_path=_agent_path(config) if options.use_agent else None,
        host_key_algorithms=cast("str | None", config.get("HostKeyAlgorithms")),
        connect_timeout_s=None if timeout_s is None else float(timeout_s),
    )


def _known_hosts(config: asyncssh.config.SSHConfig) -> tuple[Path, ...]:
    user = cast("list[str] | None", config.get("UserKnownHostsFile"))
    system = cast("list[str] | None", config.get("GlobalKnownHostsFile"))
    user_paths = _expanded(["~/.ssh/known_hosts", "~/.ssh/known_hosts2"] if user is None else user)
    return user_paths + (_SYSTEM_KNOWN_HOSTS if system is None else _expanded(system))


def _agent_path(config: asyncssh.config.SSHConfig) -> str | None:
    """The agent's socket: IdentityAgent (a path, the name of a variable, or none), else SSH_AUTH_SOCK."""
    configured = cast("str | None", config.get("IdentityAgent", "SSH_AUTH_SOCK"))
    if configured is None:
        return None
    if configured == "SSH_AUTH_SOCK" or configured.startswith("$"):
        return os.environ.get(configured.removeprefix("$")) or None
    return str(Path(configured).expanduser())


def _expanded(names: list[str]) -> tuple[Path, ...]:
    return tuple(Path(name).expanduser() for name in names)


def _unusable(message: str, paths: list[Path]) -> ConfigError:
    for pattern, reference, cause in _WITHOUT_PLACE:
        found = pattern.match(message)
        if found:
            name = found["name"]
            places = [line.place for line in _all_lines(paths) if reference.format(name) in line.value]
            message = ": ".join([*places[:1], cause.format(name)])
    return ConfigError("The ssh configuration cannot be used", cause=message, remedy=_REMEDY)


def _names_host(patterns: str, host: str) -> bool:
    """Whether a Host line holds for the host as the user wrote it."""
    words = re.split(r"[\s,]+", patterns)
    if any(word.startswith("!") and fnmatchcase(host, word[1:]) for word in words):
        return False
    return any(fnmatchcase(host, word) for word in words)


def _notice(line: ConfigLine) -> str:
    value = line.value.lower()
    if line.keyword == "match" and "exec" in value.split() and re.search(r"[%=]", value):
        return "Match exec with % or = is not evaluated as ssh would; its block may be skipped."
    if line.keyword == "stricthostkeychecking" and value not in {"yes", "ask"}:
        return f"StrictHostKeyChecking {line.value} is not followed; host keys are always checked."
    if line.keyword in {"controlmaster", "controlpath"} and value not in {"no", "none"}:
        return "Connection sharing is not supported; specttui logs in on its own, once per host."
    if line.keyword == "proxyusefdpass" and value == "yes":
        return "ProxyUseFdpass is not supported; the ProxyCommand must carry the connection itself."
    if line.keyword == "pkcs11provider" and value != "none":
        return "PKCS11Provider is not read; load its keys into the agent with ssh-add -s."
    if line.keyword == "userknownhostsfile" and value in {"none", "/dev/null"}:
        return "No host key is kept, so every host counts as unknown."
    return ""


def _all_lines(paths: list[Path]) -> Iterator[ConfigLine]:
    for path in paths:
        yield from _lines(path, _MAX_INCLUDE_DEPTH)


def _lines(path: Path, depth: int) -> Iterator[ConfigLine]:
    try:
        text = path.read_text("utf-8", "replace")
    except OSError:
        return
    for number, line in enumerate(text.splitlines(), 1):
        words = re.split(r"\s*=\s*|\s+", line.strip(), maxsplit=1)
        if len(words) < 2 or words[0].startswith("#"):
            continue
        setting = ConfigLine(path, number, words[0].lower(), words[1].strip().strip('"'))
        yield setting
        if setting.keyword == "include" and depth > 0:
            for included in _included(setting.value):
                yield from _lines(included, depth - 1)


def _included(patterns: str) -> Iterator[Path]:
    for pattern in patterns.split():
        path = Path(pattern).expanduser()
        root, relative = (
            (Path(path.anchor), path.relative_to(path.anchor))
            if path.anchor
            else (
                Path("~/.ssh").expanduser(),
                path,
            )
        )
        yield from sorted(found for found in root.glob(str(relative)) if found.is_file())

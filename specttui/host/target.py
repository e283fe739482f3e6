"""Where to connect, as the user writes it, and how."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from specttui.errors import UsageError

_FORMS = "Write it as HOST, user@HOST, HOST:PORT, [IPv6]:PORT or ssh://user@HOST:PORT."
_BRACKETED = re.compile(r"\[(?P<host>[^\[\]]+)\](?::(?P<port>.*))?\Z")
_PLAIN = re.compile(r"(?P<host>[^:\[\]]+)(?::(?P<port>.*))?\Z")
_HOST_CHARACTERS = re.compile(r"[\w.:%\-]+\Z")


@dataclass(frozen=True, slots=True)
class Target:
    """A host to connect to. `user` and `port` are None where the ssh configuration decides."""

    host: str
    user: str | None = None
    port: int | None = None

    @classmethod
    def parse(cls, text: str) -> Target:
        """Read `[user@]HOST[:port]`, an IPv6 address with or without brackets, or an ssh:// URL.

        Raises:
            UsageError: It is none of these; names the part that is wrong.
        """
        text = text.strip()
        if text.lower().startswith("ssh://"):
            return _from_url(text)
        user, at, rest = text.rpartition("@")
        if at and not user:
            raise _unusable(text, "The user before @ is empty.")
        host, port = _host_and_port(text, rest)
        return cls(_checked_host(text, host), user or None, port)

    def __str__(self) -> str:
        """The target as the user would write it."""
        host = f"[{self.host}]" if ":" in self.host and self.port is not None else self.host
        user = f"{self.user}@" if self.user else ""
        return f"{user}{host}" if self.port is None else f"{user}{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class ConnectOptions:
    """How to connect.

    Attributes:
        use_ssh_config: Read the user's and the system's ssh configuration.
        ssh_config_paths: Files read instead of these.
        client_keys: Private key files used instead of those of the configuration and the default ones.
        use_agent: Offer the keys of the SSH agent (first).
        known_hosts_paths: known_hosts files instead of the configured ones; accepted keys go to the first.
        connect_timeout_s: Seconds until a host that does not answer is given up; prompts excluded.
        keepalive_interval_s: Seconds between two signs of life asked of the host.
        keepalive_count: Unanswered ones after which the connection counts as lost.
        max_channels: Commands on one connection at a time; OpenSSH's default limit is 10, some set 2.
        probe_timeout_s: Seconds a first command may take before the account counts as unable to run any.
        server_port: Port of the SGLang server to look at, where several run; None lets discovery choose.
    """

    use_ssh_config: bool = True
    ssh_config_paths: tuple[Path, ...] | None = None
    client_keys: tuple[Path, ...] | None = None
    use_agent: bool = True
    known_hosts_paths: tuple[Path, ...] | None = None
    connect_timeout_s: float = 20.0
    keepalive_interval_s: float = 15.0
    keepalive_count: int = 3
    max_channels: int = 4
    probe_timeout_s: float = 20.0
    server_port: int | None = None


def _from_url(text: str) -> Target:
    try:
        url = urlsplit(text)
        port = url.port
    except ValueError as error:
        raise _unusable(text, f"{error}.") from None
    if url.path not in {"", "/"} or url.query or url.fragment:
        raise _unusable(text, "An ssh:// URL names a user, a host and a port, nothing after them.")
    if url.password is not None:
        raise UsageError(
            "The host to connect to cannot be used",
            cause="The URL holds a password, which would show in the shell's history and in process lists.",
            remedy="Leave it out; it is asked for when the host wants one.",
        )
    if not url.hostname:
        raise _unusable(text, "The host is empty.")
    user = unquote(url.username) if url.username else None
    return Target(_checked_host(text, url.hostname), user, port)


def _host_and_port(text: str, rest: str) -> tuple[str, int | None]:
    if rest.count(":") > 1 and not rest.startswith("["):
        return rest, None  # an IPv6 address alone
    found = _BRACKETED.match(rest) or _PLAIN.match(rest)
    if not found:
        raise _unusable(text, "The host is empty." if rest in {"", "[]"} else "The host cannot be read.")
    return found["host"], None if found["port"] is None else _port(text, found["port"])


def _port(text: str, digits: str) -> int:
    if not (digits.isascii() and digits.isdigit()) or not 0 < int(digits) < 65536:
        raise _unusable(text, f"The port {digits!r} is not a number from 1 to 65535.")
    return int(digits)


def _checked_host(text: str, host: str) -> str:
    if host.startswith("-") or not _HOST_CHARACTERS.match(host):
        raise _unusable(text, f"{host!r} is not a host name or address.")
    return host


def _unusable(text: str, cause: str) -> UsageError:
    return UsageError(f"The host to connect to cannot be used: {text!r}", cause=cause, remedy=_FORMS)

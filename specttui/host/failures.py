"""What went wrong while connecting, in our words: what happened, why, and what to do."""

from __future__ import annotations

import errno
import re
import socket

import asyncssh

from specttui.errors import (
    ConfigError,
    ConnectionFailedError,
    HostKeyChangedError,
    HostKeyUnknownError,
    SpecttuiError,
)
from specttui.host.host_keys import KnownHostLine, Verdict, fingerprint, host_name
from specttui.host.login import Login
from specttui.host.ssh_config import Route

_ERRNO = re.compile(r"\[Errno (\d+)\]")


class LoginRefusedError(ConnectionFailedError):
    """The host is there, but did not take our keys or answers."""


def explain(error: Exception, route: Route, login: Login, extra: str) -> SpecttuiError:
    """Turn what asyncssh or the system raised into an error of ours.

    Args:
        error: What was raised while connecting to the host of `route`.
        route: Where we connected.
        login: What was seen during the login.
        extra: What a ProxyCommand printed, or which key files could not be used; empty if nothing.
    """
    if isinstance(error, asyncssh.HostKeyNotVerifiable):
        return _host_key(error, route, login)
    if isinstance(error, asyncssh.PermissionDenied) or _too_many_tries(error):
        return _login_refused(error, route, login, extra)
    if isinstance(error, asyncssh.Error):
        return _protocol(error, route, extra)
    if isinstance(error, OSError):
        return _unreachable(error, route, extra)
    return ConfigError(
        f"The settings for {route.host} cannot be used",
        cause=str(error),
        remedy="Correct the setting, or connect without the ssh configuration: --no-ssh-config.",
    )


def changed_key(route: Route, line: KnownHostLine, key: asyncssh.SSHKey) -> HostKeyChangedError:
    """The refusal of a host whose key is not the one on record."""
    name = host_name(route.record_name, route.record_port)
    return HostKeyChangedError(
        f"The host key of {route.host} is not the one on record: connection refused",
        cause=(
            f"{line.place} holds {line.key_type} {fingerprint(line.blob)}; the host now shows "
            f"{key.get_algorithm()} {fingerprint(key.public_data)}. The host may have been set up anew, "
            "or somebody is in between."
        ),
        remedy=(
            "Ask who runs the host. If the key was changed on purpose, remove the old one with "
            f"ssh-keygen -R '{name}' -f '{line.path}' and connect again."
        ),
    )


def unknown_key(route: Route, key: asyncssh.SSHKey) -> HostKeyUnknownError:
    """The user, or nobody, accepted the key of a host that is not on record."""
    return HostKeyUnknownError(
        f"The host key of {route.host} is not known and was not accepted",
        cause=f"It shows {key.get_algorithm()} {fingerprint(key.public_data)}.",
        remedy="Compare the fingerprint with the one its administrator gives, then accept it.",
    )


def no_answer(route: Route, seconds: float, extra: str) -> ConnectionFailedError:
    """The host did not answer in time."""
    return ConnectionFailedError(
        f"{route.host} did not answer within {seconds:g} s",
        cause=_joined(f"Nothing came from port {route.port}.", extra),
        remedy="Check that the host is up, and that the network, VPN or firewall lets you through.",
    )


def _host_key(error: Exception, route: Route, login: Login) -> SpecttuiError:
    if login.presented is not None:
        key, verdict, line = login.presented
        if verdict is Verdict.CHANGED and line is not None:
            return changed_key(route, line, key)
        if verdict is Verdict.UNKNOWN:
            return unknown_key(route, key)
    if login.authority is not None:
        cause = f"The authority {fingerprint(login.authority.public_data)} is not in known_hosts."
        remedy = "Add its @cert-authority line to known_hosts."
    elif "revoked" in str(error):
        cause = "known_hosts marks the key it shows as @revoked."
        remedy = "Ask who runs the host for its new key; do not connect until then."
    else:
        cause = str(error)
        remedy = "Compare the host's key with the lines for it in known_hosts."
    return HostKeyChangedError(f"The host key of {route.host} is refused", cause=cause, remedy=remedy)


def _too_many_tries(error: Exception) -> bool:
    return isinstance(error, asyncssh.DisconnectError) and "Too many authentication failures" in error.reason


def _login_refused(error: Exception, route: Route, login: Login, extra: str) -> LoginRefusedError:
    tried = ", ".join(login.tried) or "no key or password"
    accepted = ", ".join(login.accepted_methods)
    facts = [f"Tried: {tried}.", f"The host takes: {accepted}." if accepted else "", extra]
    if route.agent_path is None:
        facts.append("No SSH agent was used: SSH_AUTH_SOCK is not set, or the settings say so.")
    remedy = f"Check that `ssh {route.user}@{route.host}` works; name the right key with IdentityFile."
    if _too_many_tries(error):
        remedy = "Too many keys were offered: set IdentitiesOnly yes and IdentityFile for this host."
    return LoginRefusedError(
        f"{route.host} did not let {route.user} in", cause=_joined(*facts), remedy=remedy
    )


def _protocol(error: asyncssh.Error, route: Route, extra: str) -> ConnectionFailedError:
    place = f"{route.host}, port {route.port},"
    if isinstance(error, asyncssh.ChannelOpenError):
        title = f"The jump host cannot reach {route.host}, port {route.port}"
        remedy = "Check the name and port as seen from the jump host, and that it allows forwarding."
    elif isinstance(error, asyncssh.KeyExchangeFailed):
        title = f"{place} and specttui have no algorithm in common"
        remedy = "Check KexAlgorithms, Ciphers, MACs and HostKeyAlgorithms in the ssh configuration."
    elif isinstance(error, asyncssh.ProtocolError | asyncssh.ProtocolNotSupported):
        title = f"{place} does not speak SSH as expected"
        remedy = "Check the port: something else may be listening there."
    else:
        return _cut_off(route, error.reason, extra)
    return ConnectionFailedError(title, cause=_joined(error.reason, extra), remedy=remedy)


def _cut_off(route: Route, reason: str, extra: str) -> ConnectionFailedError:
    return ConnectionFailedError(
        f"{route.host}, port {route.port}, closed the connection before the login was done",
        cause=_joined(reason, extra),
        remedy="Check the port, and that the host is not overloaded and takes this address; try again.",
    )


def _unreachable(error: OSError, route: Route, extra: str) -> ConnectionFailedError:
    if isinstance(error, socket.gaierror):
        return ConnectionFailedError(
            f"The host name {route.host!r} is not known",
            cause=_joined(str(error.strerror), extra),
            remedy="Check its spelling, the ssh configuration, and that a VPN it needs is up.",
        )
    numbers = {error.errno} if error.errno else {int(found) for found in _ERRNO.findall(str(error))}
    if isinstance(error, ConnectionRefusedError) or errno.ECONNREFUSED in numbers:
        return ConnectionFailedError(
            f"{route.host} refuses connections on port {route.port}",
            cause=_joined("The host is up, but nothing listens there, or a firewall refuses it.", extra),
            remedy="Check the port, and that the SSH server runs.",
        )
    if isinstance(error, ConnectionResetError | BrokenPipeError):
        return _cut_off(route, error.strerror or str(error), extra)
    if isinstance(error, TimeoutError) or errno.ETIMEDOUT in numbers:
        title = f"{route.host} did not answer"
    else:
        title = f"{route.host}, port {route.port}, cannot be reached"
    return ConnectionFailedError(
        title,
        cause=_joined(error.strerror or str(error), extra),
        remedy="Check that the host is up, and that the network, VPN or firewall lets you through.",
    )


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)

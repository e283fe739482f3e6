"""From what the command line says and the settings hold to what a session is to do."""

from __future__ import annotations

from collections.abc import Sequence

from specttui.config import Settings
from specttui.host.managers import ManagerCommands
from specttui.host.target import ConnectOptions, Target
from specttui.session.options import SessionOptions


def session_options(
    host: str,
    settings: Settings,
    *,
    readonly: bool = False,
    server_port: int | None = None,
    log_path: str | None = None,
    use_ssh_config: bool = True,
) -> SessionOptions:
    """What a session on a host is to do; the command line wins over the host's profile.

    Args:
        host: A profile's name, or where to connect.
        settings: The user's settings.
        readonly: Refuse every command that changes the host, also where the profile does not say so.
        server_port: The server to look at.
        log_path: The server's log.
        use_ssh_config: Read ~/.ssh/config.

    Raises:
        UsageError: The place to connect to cannot be read.
    """
    profile = settings.profile(host)
    return SessionOptions(
        target=Target.parse(profile.host),
        connect=ConnectOptions(use_ssh_config=use_ssh_config),
        readonly=readonly or profile.readonly,
        server_port=server_port or profile.server_port,
        log_path=log_path or profile.log,
        name=host if host in settings.hosts else "",
        via=profile.via,
        sudo=profile.sudo,
        targets=settings.probe_targets,
        commands=ManagerCommands(profile.commands.stop, profile.commands.start, profile.commands.log),
        roll_back=profile.roll_back,
    )


def options_of_all(
    names: Sequence[str],
    settings: Settings,
    *,
    readonly: bool = False,
    server_port: int | None = None,
    log_path: str | None = None,
    use_ssh_config: bool = True,
) -> tuple[SessionOptions, ...]:
    """What a session on all these hosts is to do; see `session_options`.

    Args:
        names: Hosts, profiles, and servers of the settings file that stand for several hosts.
        settings: The user's settings.
        readonly: Refuse every command that changes a host.
        server_port: The server to look at, the same on every host.
        log_path: The server's log, the same on every host.
        use_ssh_config: Read ~/.ssh/config.

    Raises:
        UsageError: A place to connect to cannot be read.
    """
    return tuple(
        session_options(
            host,
            settings,
            readonly=readonly,
            server_port=server_port,
            log_path=log_path,
            use_ssh_config=use_ssh_config,
        )
        for host in settings.hosts_of(names)
    )

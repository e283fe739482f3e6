"""Start a server: detached, from a script that stays on the host so that a person can run it too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from specttui.errors import LaunchError, ServerStartError
from specttui.events import Launch, LogKind, LogSource, Manager, ServerStarting
from specttui.host.other_user import OtherUser
from specttui.host.processes import ProcessId
from specttui.host.remote import Remote
from specttui.host.remote_python import run_program
from specttui.host.rights import OR_COMMANDS, Rights
from specttui.host.sudo import SudoRefusedError
from specttui.host.tail import FromOffset, TailStart
from specttui.launch.redact import redact
from specttui.log.text import safe_lines

OnStart = Callable[[ServerStarting], None]


@dataclass(frozen=True, slots=True)
class Started:
    """A server that we started.

    Attributes:
        pid: Its launcher.
        start_ticks: When that began, in clock ticks since boot.
        log_path: The file that its output goes to, "" when that is none.
        log_offset: Where in that file its output begins.
        script_path: The launch script on the host, "" when a manager started it.
        exit_path: Where the launch script notes the exit status.
        session: The session that holds it and everything it starts.
        port: The port that clients will use.
        note: Why the log is not the wanted file; "" when it is.
        manager: Who would bring it back.
        user: Whom it runs as, "" for the account that we logged in to.
        other_log: Its log where that is no file of ours, and where in it its words begin.
    """

    pid: int
    start_ticks: int
    log_path: str = ""
    log_offset: int = 0
    script_path: str = ""
    exit_path: str = ""
    session: int = 0
    port: int = 0
    note: str = ""
    manager: Manager = field(default_factory=Manager)
    user: str = ""
    other_log: tuple[LogSource, TailStart] | None = None

    @property
    def tree(self) -> tuple[ProcessId, ...]:
        """The launcher; what it starts is found when it is stopped."""
        return (ProcessId(self.pid, self.start_ticks),)

    @property
    def ports(self) -> tuple[int, ...]:
        """The port that clients use."""
        return (self.port,) if self.port else ()

    @property
    def sessions(self) -> tuple[int, ...]:
        """The session that is all its own."""
        return (self.session,) if self.session else ()

    @property
    def log(self) -> tuple[LogSource, TailStart]:
        """Its log, and where in it its words begin."""
        if self.other_log is not None:
            return self.other_log
        return LogSource(kind=LogKind.FILE, path=self.log_path), FromOffset(self.log_offset)


async def before_start(remote: Remote, launch: Launch, rights: Rights) -> OtherUser | None:
    """See, while the old server still serves, that a launch of another user can be started.

    Args:
        remote: The host.
        launch: The full launch.
        rights: Those of the account.

    Returns:
        What is to start it, for `start`; None for the account itself.

    Raises:
        LaunchError: It cannot; says why and what to do.
        ConnectionLostError: The connection broke.
    """
    through = await rights.of(launch.user)
    if through is None and not launch.user.isdigit():
        return None
    parameters = _parameters(launch, through, only_check=True)
    answer = await run_program(through or remote, "start_server", parameters)
    _check_allowed(answer, launch)
    if answer["problem"]:
        raise LaunchError(
            f"The server cannot be started as {launch.user}",
            cause=answer["problem"],
            remedy=f"Correct that, {OR_COMMANDS}.",
        )
    # Root can open a log for the user, as whoever started the server did.
    return (await rights.at_hand("root") if answer["note"] and through else None) or through


async def start(
    remote: Remote,
    launch: Launch,
    session_id: str,
    on_step: OnStart,
    *,
    port: int = 0,
    label: str = "",
    now: datetime | None = None,
    through: OtherUser | None = None,
) -> Started:
    """Start a server and return at once; `wait_ready` follows it from there.

    It runs in a session of its own, without a terminal, and outlives the connection. Arguments are kept word
    for word; the environment reaches it through a file that only its user can read.

    Args:
        remote: The host.
        launch: The full launch, secrets included.
        session_id: For the names of the files in the host's cache folder.
        on_step: Called once with the redacted launch.
        port: The port that clients will use, for stopping it again.
        label: The launch in short words, for the event.
        now: The time, for file names and the script's title.
        through: What `before_start` gave.

    Raises:
        LaunchError: The launch is empty, or belongs to a user that this account cannot become.
        ServerStartError: It did not start; the cause is what it said.
        ConnectionLostError: The connection broke; the server may have started.
    """
    if not launch.argv:
        raise LaunchError("There is no command to start", remedy="Start the server by hand, then look again.")
    moment = now or datetime.now(UTC)
    parameters = _parameters(
        launch,
        through,
        name=f"{session_id}-{moment:%Y%m%dT%H%M%S%f}",
        title=f"Written by specttui, session {session_id}, {moment:%Y-%m-%d %H:%M:%S} UTC.",
    )
    try:
        answer = await run_program(through or remote, "start_server", parameters)
    except SudoRefusedError as error:
        raise ServerStartError(
            f"The server could not be started as {launch.user}",
            cause=f"{error.title}: {error.cause}",
            remedy=f"No server runs. {error.remedy}",
        ) from error
    _check_allowed(answer, launch)
    started = _read(answer, launch, port)
    on_step(ServerStarting(pid=started.pid, launch=redact(launch), label=label))
    return started


def _parameters(
    launch: Launch, through: OtherUser | None, *, name: str = "", title: str = "", only_check: bool = False
) -> dict[str, Any]:
    return {
        "argv": list(launch.argv),
        "env": {} if only_check else launch.env,
        "cwd": launch.cwd,
        "user": launch.user,
        "log_path": launch.log_path,
        "name": name,
        "title": title,
        "for_account": through is None,
        "only_check": only_check,
    }


def _check_allowed(answer: dict[str, Any], launch: Launch) -> None:
    if answer.get("refused"):
        raise LaunchError(
            f"The server runs as {launch.user}, and this account is {answer['refused']}",
            cause="Only root can start a server as another user, and only as one that has a name there.",
            remedy=f"Log in as {launch.user} or as root, {OR_COMMANDS}.",
        )


def _read(answer: dict[str, Any], launch: Launch, port: int) -> Started:
    if not answer["pid"]:
        raise ServerStartError(
            "The server did not start",
            cause="\n".join(safe_lines(answer["said"].strip()[-2000:])),
            remedy=f"Run the script by hand to see more: sh {answer.get('script_path', '')}",
        )
    return Started(
        pid=answer["pid"],
        start_ticks=answer["start_ticks"],
        log_path=answer["log_path"],
        log_offset=answer["log_offset"],
        script_path=answer["script_path"],
        exit_path=answer["exit_path"],
        session=answer["session"],
        port=port,
        note=answer["note"],
        user=launch.user,
    )

"""Find the SGLang servers of a host: one visit with one program, and everything else is thinking here.

A server of another user is looked at once more through sudo, where that may be.
"""

from __future__ import annotations

from collections.abc import Sequence

from specttui.host.facts import HostFacts, ServerFacts
from specttui.host.found import Discovery, FoundServer, InspectSource, Problem
from specttui.host.gpus import parse_gpus
from specttui.host.other_user import OtherUser
from specttui.host.reading import found_server
from specttui.host.remote import Remote
from specttui.host.remote_python import run_program
from specttui.host.runner import Runner
from specttui.host.sudo import PasswordNeededError, Sudo, SudoRefusedError
from specttui.probe import inspect

_START_ONE = "Start the server on this host, or connect to where it runs (another host, its container)."


async def discover(
    remote: Remote,
    *,
    port: int | None = None,
    log_path: str | None = None,
    inspect_source: InspectSource = inspect,
    sudo: Sudo | None = None,
    ask: bool = False,
) -> Discovery:
    """Find the running SGLang servers and say all that can be seen of them. Changes nothing.

    Args:
        remote: The host.
        port: Only the server that clients reach at this port.
        log_path: Where the server's output goes, when the user knows better.
        inspect_source: Tells what a worker file is.
        sudo: For servers of other users; without it, or with its mode "no", little is seen of them.
        ask: Ask for sudo's password where no server can be read without it.

    Returns:
        The servers, those that answer first; none is not an error but a problem with its remedy.

    Raises:
        RemoteCommandError: The host has no Python, or looking failed.
        ConnectionLostError: The connection broke.
    """
    facts = await _facts(remote)
    if not facts.proc:
        text = f"{remote.name} has no /proc, so it is not Linux: no server can be found there."
        return Discovery(problems=(Problem(text, "Connect to the Linux host that has the GPUs."),))
    gpus = parse_gpus(facts.gpus or "")

    def read(servers: Sequence[ServerFacts], unread: Problem | None = None) -> list[FoundServer]:
        return [found_server(one, facts.user, gpus, log_path, inspect_source, unread) for one in servers]

    found = read(facts.servers)
    wanted = [server.pid for server in found if port is None or server.port == port]
    hidden = [one for one in facts.servers if one.pid in wanted and not one.readable]
    if hidden and sudo is not None:
        ask = ask and len(hidden) == len(wanted)
        servers, unread = await _look_again(remote, sudo, facts, hidden, ask=ask)
        found = read(servers, unread)
    ordered = sorted(
        (server for server in found if port is None or server.port == port),
        key=lambda server: (not server.serving, not server.restartable, server.port),
    )
    problems = (*_host_problems(facts, found, port), *(p for server in ordered for p in server.problems))
    return Discovery(tuple(ordered), problems)


async def _facts(
    runner: Runner, skip: Sequence[ServerFacts] = (), account: HostFacts | None = None
) -> HostFacts:
    parameters = {
        "skip": [[server.pid, server.start_ticks] for server in skip],
        "account": [account.uid, *account.groups] if account else [],
    }
    return HostFacts.model_validate(await run_program(runner, "discover_host", parameters))


async def _look_again(
    remote: Remote, sudo: Sudo, facts: HostFacts, hidden: Sequence[ServerFacts], *, ask: bool
) -> tuple[list[ServerFacts], Problem]:
    """Look with the rights of the servers' user; root sees those of several.

    Returns:
        The servers; and for those that cannot be read all the same, why not and what would help.
    """
    if sudo.mode == "no":
        return list(facts.servers), Problem("", "Set `sudo` in the host's profile")
    users = {server.user for server in hidden}
    other = OtherUser(remote, sudo, users.pop() if len(users) == 1 else "root", ask=ask)
    try:
        seen = await _facts(other, [server for server in facts.servers if server not in hidden], facts)
    except PasswordNeededError as error:
        return list(facts.servers), Problem(error.cause, "Look again (f5) and give your password for sudo")
    except SudoRefusedError as error:
        return list(facts.servers), Problem(f"{error.title}: {error.cause}")
    again = {(server.pid, server.start_ticks): server for server in seen.servers}
    return [again.get((server.pid, server.start_ticks), server) for server in facts.servers], Problem("")


def _host_problems(facts: HostFacts, found: list[FoundServer], port: int | None) -> tuple[Problem, ...]:
    problems = [_lost_look(failure) for failure in facts.failures]
    if not found:
        problems.append(Problem("No SGLang server runs on this host.", _START_ONE))
    elif port is not None and all(server.port != port for server in found):
        ports = ", ".join(str(server.port) for server in found)
        problems.append(Problem(f"No SGLang server serves port {port}.", f"These ports are served: {ports}."))
    if not facts.sees_others:
        problems.append(_hidden(facts))
    if facts.orphans:
        problems.append(_orphans(facts.orphans))
    return tuple(problems)


def _lost_look(failure: str) -> Problem:
    return Problem(f"A server could not be looked at: {failure}", "Look again; it may just have ended.")


def _hidden(facts: HostFacts) -> Problem:
    return Problem(
        f"This host hides other users' processes from {facts.user or 'this account'}.",
        "If a server runs as another user, log in as that user or as root.",
    )


def _orphans(pids: tuple[int, ...]) -> Problem:
    listed = " ".join(str(pid) for pid in pids)
    return Problem(
        f"Workers without a launcher hold GPU memory: processes {listed}.",
        f"They are left from a server that was killed. If nobody needs them: kill {listed}",
    )

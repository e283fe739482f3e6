"""Find the SGLang servers of a host: one visit with one program, and everything else is thinking here."""

from __future__ import annotations

from specttui.host.facts import HostFacts
from specttui.host.found import Discovery, FoundServer, InspectSource, Problem
from specttui.host.gpus import parse_gpus
from specttui.host.reading import found_server
from specttui.host.remote import Remote
from specttui.host.remote_python import run_program
from specttui.probe import inspect

_START_ONE = "Start the server on this host, or connect to where it runs (another host, its container)."


async def discover(
    remote: Remote,
    *,
    port: int | None = None,
    log_path: str | None = None,
    inspect_source: InspectSource = inspect,
) -> Discovery:
    """Find the running SGLang servers and say all that can be seen of them. Changes nothing.

    Args:
        remote: The host.
        port: Only the server that clients reach at this port.
        log_path: Where the server's output goes, when the user knows better.
        inspect_source: Tells what a worker file is.

    Returns:
        The servers, those that answer first; none is not an error but a problem with its remedy.

    Raises:
        RemoteCommandError: The host has no Python, or looking failed.
        ConnectionLostError: The connection broke.
    """
    facts = HostFacts.model_validate(await run_program(remote, "discover_host"))
    if not facts.proc:
        text = f"{remote.name} has no /proc, so it is not Linux: no server can be found there."
        return Discovery(problems=(Problem(text, "Connect to the Linux host that has the GPUs."),))
    gpus = parse_gpus(facts.gpus or "")
    found = [found_server(server, facts.user, gpus, log_path, inspect_source) for server in facts.servers]
    wanted = [server for server in found if port is None or server.port == port]
    ordered = sorted(wanted, key=lambda server: (not server.serving, not server.restartable, server.port))
    problems = (*_host_problems(facts, found, port), *(p for server in ordered for p in server.problems))
    return Discovery(tuple(ordered), problems)


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

"""The servers of the host: GPUs, what runs, its log, its worker file, who manages it."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import PurePosixPath

from specttui.events import FileState, LogKind, Worker
from specttui.host import manager as managers
from specttui.host.discovery import discover
from specttui.host.found import FoundServer
from specttui.host.gpus import sample_gpus
from specttui.host.log_source import proposal
from specttui.host.managers.choose import Ways
from specttui.host.managers.way import WayOptions
from specttui.host.prompts import Prompter
from specttui.host.remote import Remote
from specttui.host.sudo import Sudo, SudoRefusedError
from specttui.probe.inspection import inspect
from specttui.session.doctor.findings import Findings
from specttui.session.options import SessionOptions

_FREE = "df -Pk -- \"$1\" | awk 'NR == 2 { print $4 }'"
_FOLDER_WRITABLE = '[ -w "$1" ]'
_LEAST_KIB = 1024
_LITTLE_KIB = 100 * 1024


async def serving(remote: Remote, options: SessionOptions, prompter: Prompter, found: Findings) -> None:
    """Look at the GPUs and at every server."""
    with found.trying("GPUs"):
        await _gpus(remote, found)
    with found.trying("SGLang"):
        discovery = await discover(
            remote,
            port=options.server_port,
            log_path=options.log_path,
            inspect_source=partial(inspect, targets=options.targets),
            sudo=(sudo := Sudo(remote, prompter, options.sudo)),
        )
        if not discovery.servers:
            for problem in discovery.problems:
                found.fail("SGLang", problem.text, problem.remedy or "Start the server, then look again.")
        for server in discovery.servers:
            await _server(remote, options, prompter, server, found, sudo)
            with found.trying("restarts"):
                await _restarts(remote, server, options, sudo, found)


async def _gpus(remote: Remote, found: Findings) -> None:
    gpus = await sample_gpus(remote)
    if gpus:
        names = ", ".join(sorted({gpu.name for gpu in gpus}))
        found.ok("GPUs", f"{len(gpus)} x {names}")
    else:
        found.warn(
            "GPUs",
            "nvidia-smi is missing or does not answer.",
            "Without it a restart does not wait for the GPUs' memory; put nvidia-smi on the login's PATH.",
        )


async def _server(
    remote: Remote,
    options: SessionOptions,
    prompter: Prompter,
    server: FoundServer,
    found: Findings,
    sudo: Sudo,
) -> None:
    info = server.info
    state = "serving" if server.serving else "not answering yet"
    version = info.sglang_version or "of unknown version"
    found.ok("SGLang", f"{version}, process {info.pid}, port {info.port}, {state}")
    await _log(remote, server, options, found, sudo)
    with found.trying("worker file"):
        await _worker(remote, options, prompter, info.worker, found)


async def _log(
    remote: Remote, server: FoundServer, options: SessionOptions, found: Findings, sudo: Sudo
) -> None:
    log = server.info.log
    advice = proposal(log)
    if options.commands.log:
        found.ok("log", f"by the profile's own command: {shlex.join(options.commands.log)}")
    elif advice:
        found.fail("log", f"It goes to {log.path or log.detail or 'an unknown place'}.", advice)
    elif log.kind is LogKind.FILE and not (await remote.run(["test", "-r", log.path])).ok:
        if server.user in sudo.proven:
            found.ok("log", f"file {log.path}, read through sudo as {sudo.proven[server.user]}")
            return
        remedy = "Let the account read it, or name another file with --log."
        found.fail("log", f"{log.path} cannot be read.", remedy)
    else:
        found.ok("log", f"{log.kind.value} {log.path}".rstrip())


async def _worker(
    remote: Remote, options: SessionOptions, prompter: Prompter, worker: Worker, found: Findings
) -> None:
    if not worker.path:
        found.warn(
            "worker file",
            "None is known: the server's worker is none of ours, or its package was not found.",
            "The log's figures work without it; write a target for it (docs/configuration.md).",
        )
        return
    if worker.state is FileState.ORIGINAL and worker.family:
        found.ok("worker file", f"{worker.class_name} ({worker.family}) in {worker.path}, original")
    elif worker.state is FileState.PATCHED:
        remedy = f"Go on with it, or bring the original back: specttui restore {_host(options)}"
        found.warn("worker file", f"{worker.path} is patched by a session.", remedy)
    else:
        remedy = f"See what `specttui check {_host(options)}` says of it."
        found.warn("worker file", f"{worker.path} is {worker.state.value}: no worker that we know.", remedy)
    folder = str(PurePosixPath(worker.path).parent)
    await _writable(remote, options, prompter, worker, folder, found)
    await _disk(remote, folder, found)


async def _writable(
    remote: Remote,
    options: SessionOptions,
    prompter: Prompter,
    worker: Worker,
    folder: str,
    found: Findings,
) -> None:
    may = await remote.run(["sh", "-c", _FOLDER_WRITABLE, "sh", folder])
    if worker.writable and may.ok:
        found.ok("writing it", "this account may")
        return
    detail = "This account may not write it or its folder."
    hook = "A restart with an import hook times it without changing the file"
    if options.sudo == "no":
        found.warn("writing it", detail, f"{hook}; or set `sudo` in the host's profile.")
        return
    try:
        free = await Sudo(remote, prompter, options.sudo).free()
    except SudoRefusedError as error:
        found.warn("writing it", f"{detail} {error.cause}", f"{hook}. {error.remedy}")
        return
    if free:
        found.ok("writing it", "through sudo, which asks for nothing")
    else:
        found.warn(
            "writing it", f"{detail} sudo asks for a password.", f"{hook}; `sudo = true` asks you for it."
        )


async def _disk(remote: Remote, folder: str, found: Findings) -> None:
    answer = (await remote.run(["sh", "-c", _FREE, "sh", folder])).text.strip()
    if not answer.isdigit():
        found.info("disk", f"the free space of {folder} is not known")
        return
    free_kib = int(answer)
    detail = f"{free_kib / 1024:.0f} MiB free at {folder}"
    remedy = "Free some space there before patching."
    if free_kib < _LEAST_KIB:
        found.fail("disk", detail, remedy)
    elif free_kib < _LITTLE_KIB:
        found.warn("disk", detail, remedy)
    else:
        found.ok("disk", detail)


async def _restarts(
    remote: Remote, server: FoundServer, options: SessionOptions, sudo: Sudo, found: Findings
) -> None:
    """Whether signals and a start would work: by whom, and through which manager."""
    manager = server.manager
    ways = Ways(remote, options.commands, WayOptions(stop_limits=options.stop_limits), sudo)
    if server.obstacles and not ways.starts_by_command:
        problem = server.obstacles[0]
        found.warn("restarts", problem.text, problem.remedy)
    elif ways.refusal(manager):
        name = f"{manager.kind.value} {manager.name}".rstrip()
        found.warn("restarts", f"The server is run by {name}.", managers.remedy(manager))
    else:
        said = "; ".join(ways.words(manager)) or f"specttui can stop and start it ({manager.kind.value})"
        own = options.commands.stop and options.commands.start
        other = None if own else await ways.rights.of(server.user, ask=False)
        found.ok("restarts", f"{said}; signals and start go {other.words}" if other else said)


def _host(options: SessionOptions) -> str:
    return options.name or str(options.target)

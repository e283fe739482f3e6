"""From one server's facts to what the session needs: launch, settings, worker, log, manager. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import PurePosixPath

from specttui.errors import LaunchError
from specttui.events import Gpu, Launch, LogKind, LogSource, ServerInfo, SpecSettings, Worker
from specttui.host.facts import ServerFacts, WorkerFile
from specttui.host.found import FoundServer, InspectSource, Problem
from specttui.host.log_source import log_source, proposal
from specttui.host.manager import manager_of
from specttui.host.worker_choice import WorkerChoice, choose_worker
from specttui.launch import flags
from specttui.launch.argv import parse
from specttui.launch.nodes import NodePlace, node_place
from specttui.launch.redact import redact
from specttui.launch.settings import (
    Config,
    Parallelism,
    effective_command,
    expected_effective,
    model_path,
    parallelism,
    server_host,
    server_port,
    spec_settings,
)
from specttui.probe.targets import CUSTOM_FAMILY

_CHANGE_BY_HAND = "specttui can watch this server; restart it by hand and let specttui find it again."


def found_server(
    facts: ServerFacts,
    user: str,
    gpus: tuple[Gpu, ...],
    log_path: str | None,
    inspect_source: InspectSource,
    unread: Problem | None = None,
) -> FoundServer:
    """Read one server's facts.

    Args:
        facts: What was seen of it.
        user: The account that we logged in to.
        gpus: The host's GPUs.
        log_path: The user's own word on where the log is.
        inspect_source: Tells what a worker file is.
        unread: Why sudo does not help where the server's environment cannot be read, and what would.
    """
    manager = manager_of(facts.surroundings, facts.environ)
    log = LogSource(kind=LogKind.FILE, path=log_path) if log_path else _log(facts)
    launch = _launch(facts, log)
    arguments = _server_arguments(facts)
    readable = _Readable(launch, facts.package.config)
    effective = _effective(readable.settings, arguments)
    version = facts.package.version or str(arguments.get("version") or "")
    workers = {PurePosixPath(file.path).name: _worker(file, inspect_source) for file in facts.workers}
    choice = _named_by_user(workers, _choice(facts, readable, effective, arguments, version))
    worker = workers.get(choice.file_name, Worker())
    info = ServerInfo(
        pid=facts.pid,
        start_ticks=facts.start_ticks,
        launch=redact(launch),
        requested=readable.settings,
        effective=effective,
        model_path=str(arguments.get("model_path") or readable.model_path),
        host=_reachable(facts.answers_at.address or readable.host),
        port=facts.answers_at.port or readable.port,
        tensor_parallel=readable.parallelism.tensor,
        data_parallel=readable.parallelism.data,
        pipeline_parallel=readable.parallelism.pipeline,
        node_rank=readable.place.rank,
        node_count=readable.place.count,
        interpreter=facts.package.interpreter,
        sglang_version=version,
        sglang_path=facts.package.path,
        worker=worker.model_copy(update={"class_name": worker.class_name or choice.class_name}),
        other_workers=tuple(
            other for name, other in workers.items() if name != choice.file_name and other.class_name
        ),
        log=log,
        manager=manager,
        gpus=gpus,
        child_pids=tuple(process.pid for process in facts.tree[1:]),
    )
    obstacles = _obstacles(facts, user, readable, unread or Problem(""))
    problems = [*obstacles, *_losses(facts)]
    if facts.readable:
        problems += [*_package_problems(facts), *_worker_problems(choice, worker), *_log_problems(log)]
    return FoundServer(
        info=info,
        launch=launch,
        choice=choice,
        tree=facts.tree,
        session=facts.session,
        listening=facts.listening,
        server_args=arguments,
        sources={file.path: file.source for file in facts.workers},
        config=facts.package.config,
        serving=facts.server_info.status != 0,
        problems=tuple(problems),
        obstacles=tuple(obstacles),
    )


class _Readable:
    """A launch's settings, with defaults and the reason where its command line cannot be read."""

    def __init__(self, launch: Launch, config: Config | None) -> None:
        self.settings, self.parallelism, self.place = SpecSettings(), Parallelism(), NodePlace()
        self.host, self.port, self.model_path = "127.0.0.1", 30000, ""
        self.multi_layer, self.error = False, ""
        try:
            parse(launch.argv)
            self.settings = spec_settings(launch, config)
            self.parallelism = parallelism(launch, config)
            self.place = node_place(launch, config)
            self.host, self.port = server_host(launch, config), server_port(launch, config)
            self.model_path = model_path(launch, config)
            self.multi_layer = effective_command(launch, config).has(flags.MULTI_LAYER_EAGLE)
        except LaunchError as error:
            self.error = f"{error.title}: {error.cause}" if error.cause else error.title


def _reachable(address: str) -> str:
    """An address that a client on the host can use: one that means "all" is reached through loopback."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address, address)  # noqa: S104 - nothing is bound


def _log(facts: ServerFacts) -> LogSource:
    return log_source(facts.output, manager_of(facts.surroundings, facts.environ))


def _launch(facts: ServerFacts, log: LogSource) -> Launch:
    appendable = log.kind is LogKind.FILE and not log.detail
    return Launch(
        argv=facts.argv,
        env=facts.environ,
        cwd=facts.cwd,
        user=facts.user,
        log_path=log.path if appendable else "",
    )


def _server_arguments(facts: ServerFacts) -> dict[str, object]:
    """The arguments as the server resolved them, keys that could hold a secret left out."""
    try:
        body = json.loads(facts.server_info.body) if facts.server_info.body else {}
    except ValueError:
        return {}
    if not isinstance(body, dict):
        return {}
    return {name: value for name, value in body.items() if "api_key" not in name and name != "env_vars"}


def _effective(requested: SpecSettings, arguments: Mapping[str, object]) -> SpecSettings:
    """The settings in force: what the server says, else what it is known to make of the request."""
    if "speculative_algorithm" not in arguments:
        return expected_effective(requested)
    disabled = arguments.get("disable_overlap_schedule")
    return SpecSettings(
        algorithm=_text(arguments.get("speculative_algorithm")),
        num_steps=_count(arguments.get("speculative_num_steps")),
        eagle_topk=_count(arguments.get("speculative_eagle_topk")),
        num_draft_tokens=_count(arguments.get("speculative_num_draft_tokens")),
        draft_model_path=_text(arguments.get("speculative_draft_model_path")),
        overlap=None if disabled is None else not disabled,
    )


def _text(value: object) -> str | None:
    return str(value) if value not in {None, ""} else None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _choice(
    facts: ServerFacts,
    readable: _Readable,
    effective: SpecSettings,
    arguments: Mapping[str, object],
    version: str,
) -> WorkerChoice:
    disabled = arguments.get("disable_overlap_schedule")
    speculates = effective.algorithm is not None
    return choose_worker(
        effective if speculates and arguments else readable.settings,
        {PurePosixPath(file.path).name for file in facts.workers},
        version=version,
        overlap_disabled=bool(disabled) if speculates and disabled is not None else None,
        multi_layer=bool(arguments.get("enable_multi_layer_eagle", readable.multi_layer)),
    )


def _named_by_user(workers: Mapping[str, Worker], choice: WorkerChoice) -> WorkerChoice:
    """The worker of a target in the user's settings, where the rules lead to none that we know."""
    if workers.get(choice.file_name, Worker()).family:
        return choice
    for file_name, worker in workers.items():
        if worker.family == CUSTOM_FAMILY:
            return WorkerChoice(file_name, worker.class_name, "a target in the settings names it")
    return choice


def _worker(file: WorkerFile, inspect_source: InspectSource) -> Worker:
    inspection = inspect_source(file.source, file.path)
    return Worker(
        family=inspection.family,
        class_name=inspection.worker_class,
        path=file.path,
        state=inspection.state,
        sha256=file.sha256,
        size_bytes=file.size_bytes,
        writable=file.writable,
    )


def _obstacles(facts: ServerFacts, user: str, readable: _Readable, unread: Problem) -> list[Problem]:
    """What keeps a server from being restarted."""
    problems = []
    if not facts.readable:
        text = (
            f"The server (process {facts.pid}) belongs to {facts.user}; {user} may not read its environment."
        )
        accounts = " or ".join(dict.fromkeys((facts.user, "root")))
        remedy = f"{unread.remedy}, or log in as {accounts}." if unread.remedy else f"Log in as {accounts}."
        problems.append(Problem(f"{text} {unread.text}".rstrip(), remedy))
    if facts.known == "title":
        text = "This release hides the server's command line, so it cannot be restarted with other flags."
        problems.append(Problem(text, _CHANGE_BY_HAND))
    elif readable.error or facts.known == "children":
        text = f"The server was started by another program ({' '.join(facts.argv)[:120]})."
        problems.append(Problem(text, _CHANGE_BY_HAND))
    if not facts.argv_is_text:
        problems.append(Problem("The server's command line is not UTF-8 text.", _CHANGE_BY_HAND))
    return problems


def _losses(facts: ServerFacts) -> list[Problem]:
    if not facts.undecodable_names:
        return []
    names = ", ".join(facts.undecodable_names)
    text = f"These variables of the server are not UTF-8 text: {names}."
    return [Problem(text, "A restart leaves them out.")]


def _package_problems(facts: ServerFacts) -> list[Problem]:
    problems = []
    if not facts.package.path:
        text = f"The server's sglang package was not found. {facts.package.problem}".strip()
        problems.append(
            Problem(text, "Figures from the log work; for the probe, log in where the server runs.")
        )
    return problems


def _worker_problems(choice: WorkerChoice, worker: Worker) -> list[Problem]:
    if not choice.file_name:
        return [
            Problem(f"The worker file is not known: {choice.why}.", "Figures from the log work without it.")
        ]
    if not worker.writable:
        text = f"The worker file {worker.path} is not writable for this account."
        return [
            Problem(text, "Patching (p) shows how the probe gets in: through sudo, or by an import hook.")
        ]
    return []


def _log_problems(log: LogSource) -> list[Problem]:
    if log.detail.startswith("deleted"):
        text = f"The server's log file was {log.detail}. It is still followed, but it ends with the server."
        return [Problem(text, "Restart the server through specttui, which writes a new log file.")]
    advice = proposal(log)
    where = log.path or log.detail or "a place we cannot see"
    return [Problem(f"The server's log cannot be followed: it goes to {where}.", advice)] if advice else []

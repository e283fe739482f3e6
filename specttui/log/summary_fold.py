"""Folds the events of a saved log into its summary: servers, start-ups, runs, failures."""

from __future__ import annotations

from specttui.events import (
    AdaptiveSwitch,
    ArgumentAdjusted,
    DecodeStats,
    Event,
    FailureSeen,
    HttpSeen,
    LogEvent,
    LogNotice,
    MemoryPressure,
    PrefillStats,
    ProbeCycles,
    ServerArguments,
    StartupStep,
)
from specttui.log.meaning.no_figures import explain_no_decode
from specttui.log.meaning.settings import effective_settings
from specttui.log.stamps import stamp_seconds
from specttui.log.startup import StartupModel
from specttui.log.summary_model import FailureFigures, RunFigures, ServerFigures, StartupPhase
from specttui.log.summary_run import RunFold

#: The settings a summary shows, in this order.
SHOWN_SETTINGS = (
    "model_path", "speculative_algorithm", "speculative_draft_model_path", "speculative_num_steps",
    "speculative_eagle_topk", "speculative_num_draft_tokens", "speculative_adaptive", "tp_size", "dp_size",
    "pp_size", "attention_backend", "disable_overlap_schedule", "disable_cuda_graph",
    "disable_custom_all_reduce", "mem_fraction_static", "max_running_requests", "context_length",
    "decode_log_interval", "host", "port",
)  # fmt: skip


class ServerFold:
    """One server's life."""

    def __init__(self) -> None:
        self.arguments: ServerArguments | None = None
        self.adjusted: list[ArgumentAdjusted] = []
        self.failures: list[FailureSeen] = []
        self._startup = StartupModel()
        self._printed: dict[str, float] = {}
        self._runs: list[RunFold] = []
        self._clock_s = 0.0
        self._first_stamp = ""
        self._retracted = self._prefills = self._decodes = 0
        self._http = HttpSeen()
        self._notices: list[str] = []
        self._stopped = self._ready = False

    @property
    def touched(self) -> bool:
        """True once the log said more of this server than adjustments, which precede its listing."""
        return bool(self.arguments or self.failures or self._runs or self._startup.phase or self._decodes)

    @property
    def over(self) -> bool:
        """True when a line about settings must belong to another server."""
        return self._stopped or self._ready or any(failure.fatal for failure in self.failures)

    def add(self, event: Event) -> None:
        """Take the next event."""
        if isinstance(event, LogEvent) and event.stamp:
            self._first_stamp = self._first_stamp or event.stamp
            self._clock_s = stamp_seconds(event.stamp) or self._clock_s
        if isinstance(event, DecodeStats):
            self._decodes += 1
            self._run().decode(event)
        elif isinstance(event, ProbeCycles):
            self._run().probe(event)
        elif isinstance(event, StartupStep):
            self._step(event)
        elif isinstance(event, FailureSeen):
            self.failures.append(event)
        else:
            self._add_rare(event)

    def _add_rare(self, event: Event) -> None:
        if isinstance(event, PrefillStats):
            self._prefills += 1
            if self._runs:
                self._runs[-1].prefill(event)
        elif isinstance(event, ServerArguments):
            self.arguments = event
        elif isinstance(event, AdaptiveSwitch):
            self._switch(event)
        elif isinstance(event, MemoryPressure):
            self._retracted += event.retracted or 0
            self._run().pressure(event)
        elif isinstance(event, HttpSeen):
            self._add_http(event)
        elif isinstance(event, LogNotice):
            self._stopped = self._stopped or event.what in {"draining", "graceful_exit"}
            self._notices += [event.detail] if event.what in {"custom_log_format", "suppressed"} else []

    def figures(self) -> ServerFigures:
        """The server as the log leaves it."""
        phases = self._startup.phases(self._clock_s)
        return ServerFigures(
            started=self.arguments.stamp if self.arguments else self._first_stamp,
            outcome=self._outcome(),
            ready=self._ready,
            startup_s=sum(phase.duration_s for phase in phases) if self._ready else None,
            settings=self._shown_settings(),
            adjusted=tuple(dict.fromkeys(change.text for change in self.adjusted)),
            startup=tuple(
                StartupPhase(phase.phase, phase.started_s, phase.duration_s, self._printed.get(phase.phase))
                for phase in phases
            ),
            runs=self._run_figures(),
            failures=tuple(map(_failure, self.failures)),
            retracted_requests=self._retracted,
            prefills=self._prefills,
            http_ok=self._http.ok,
            http_client_errors=self._http.client_errors,
            http_server_errors=self._http.server_errors,
            notes=self._notes(),
        )

    def _run(self) -> RunFold:
        if not self._runs:
            settings = self._settings()
            steps = _number(settings, "speculative_num_steps")
            draft_tokens = _number(settings, "speculative_num_draft_tokens")
            interval = _number(settings, "decode_log_interval")
            self._runs.append(RunFold(run_label(settings), steps, draft_tokens, interval))
        return self._runs[-1]

    def _switch(self, event: AdaptiveSwitch) -> None:
        current = self._run()
        if event.steps_after == current.steps:
            return  # another rank's word on the same switch
        if current.steps is None:
            current.steps, current.draft_tokens = event.steps_before, event.draft_tokens_before
        label = f"adaptive: steps {event.steps_after}, draft tokens {event.draft_tokens_after or '?'}"
        interval = _number(self._settings(), "decode_log_interval")
        self._runs.append(RunFold(label, event.steps_after, event.draft_tokens_after, interval))

    def _step(self, event: StartupStep) -> None:
        if self._ready:
            return
        self._startup.apply(event, self._clock_s)
        if event.edge == "end" and event.elapsed_s is not None:
            self._printed[event.phase] = max(self._printed.get(event.phase, 0.0), event.elapsed_s)
        self._ready = self._startup.ready

    def _add_http(self, event: HttpSeen) -> None:
        self._http = HttpSeen(
            ok=self._http.ok + event.ok,
            client_errors=self._http.client_errors + event.client_errors,
            server_errors=self._http.server_errors + event.server_errors,
        )

    def _outcome(self) -> str:
        if any(failure.fatal for failure in self.failures):
            return "failed"
        if self._stopped:
            return "stopped"
        if self._ready or self._decodes:
            return "serving"
        return "loading" if self._startup.phase or self.arguments else "unknown"

    def _settings(self) -> dict[str, str]:
        return effective_settings({}, self.adjusted, self.arguments)

    def _shown_settings(self) -> dict[str, str]:
        settings = self._settings()
        return {name: settings[name] for name in SHOWN_SETTINGS if settings.get(name, "None") != "None"}

    def _run_figures(self) -> tuple[RunFigures, ...]:
        return tuple(run.figures() for run in self._runs if not run.empty)

    def _notes(self) -> tuple[str, ...]:
        notes = list(self._notices)
        arguments = self.arguments.arguments if self.arguments else None
        silence = explain_no_decode(self._http.ok, self._decodes, arguments)
        notes += [silence] if silence else []
        if self._ready and any(failure.category == "port_in_use" for failure in self.failures):
            notes.append(
                "The ready line is not about this server: its warm-up reached the one that holds the port."
            )
        return tuple(notes)


def run_label(settings: dict[str, str]) -> str:
    """A run's short name from its effective settings."""
    if "model_path" not in settings and "speculative_algorithm" not in settings:
        return "settings not in the log"
    algorithm = settings.get("speculative_algorithm", "None")
    if algorithm == "None":
        return "baseline"
    parts = [
        f"{word} {settings[name]}"
        for word, name in (
            ("steps", "speculative_num_steps"),
            ("top-k", "speculative_eagle_topk"),
            ("draft tokens", "speculative_num_draft_tokens"),
        )
        if settings.get(name, "None") != "None"
    ]
    return ", ".join([algorithm, *parts])


def _number(settings: dict[str, str], name: str) -> int | None:
    text = settings.get(name, "")
    return int(text) if text.isdigit() else None


def _failure(event: FailureSeen) -> FailureFigures:
    return FailureFigures(
        category=event.category,
        title=event.title,
        rank=event.rank,
        stamp=event.stamp,
        lines=event.lines,
        remedy=event.remedy,
        fatal=event.fatal,
        in_probe=event.in_probe,
        details=dict(event.details),
    )


class SummaryFold:
    """All servers in a log, in order."""

    def __init__(self) -> None:
        self._servers = [ServerFold()]
        self._waiting: list[ArgumentAdjusted] = []

    def add(self, event: Event) -> None:
        """Take the next event of the log."""
        if isinstance(event, ServerArguments):
            if self._servers[-1].touched:
                self._servers.append(ServerFold())
            self._servers[-1].adjusted += self._waiting
            self._waiting = []
        elif isinstance(event, ArgumentAdjusted):
            # Such lines come before the listing of the server that they are about.
            (self._waiting if self._servers[-1].over else self._servers[-1].adjusted).append(event)
            return
        self._servers[-1].add(event)

    def figures(self) -> tuple[ServerFigures, ...]:
        """Every server that the log says anything of."""
        self._servers[-1].adjusted += self._waiting
        self._waiting = []
        return tuple(server.figures() for server in self._servers if server.touched or server.adjusted)

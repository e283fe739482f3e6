"""All that the events so far say, as plain data: changed by the folds beside, read by the snapshot."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from specttui import events as ev
from specttui.state.cycles import CycleColumns
from specttui.state.decode import DecodeFold, DecodeSample
from specttui.state.history import HISTORY_METRICS, History
from specttui.state.runs import RunFold
from specttui.state.settings_view import SettingsView, compare, in_words, known_interval, overlaid
from specttui.state.snapshot import CommandView, ProbeView

#: Lines kept for the log view.
LOG_LINES = 2000
#: Cycles behind the breakdown on the screen.
WINDOW_CYCLES = 512


class Facts:
    """The data of a session. `at` and `offset_s` are those of the event being folded."""

    def __init__(self) -> None:
        self.session: ev.SessionStarted | None = None
        self.ended: ev.SessionEnded | None = None
        self.nodes_by_rank: tuple[str, ...] = ()
        self.started_at = 0.0
        self.at = 0.0
        self.offset_s = 0.0
        self.connection = "connecting"
        self.connection_detail = ""
        self.latency_ms: float | None = None
        self.server: ev.ServerInfo | None = None
        self.server_phase = "unknown"
        self.server_detail = ""
        self.being_ended = False
        self.progress: ev.ServerProgress | None = None
        self.progress_offset_s = 0.0
        self.starting_since_s: float | None = None
        self.last_output_s: float | None = None
        self.failure: ev.Diagnosis | None = None
        self.worker_file: ev.WorkerFileChecked | None = None
        self.probe = ProbeView(status="absent")
        self.launch: ev.Launch | None = None
        self.arguments: dict[str, str] = {}
        self.adjusted: list[ev.ArgumentAdjusted] = []
        self.listed_server_is_up = False
        self.compared = SettingsView({}, ())
        self.decode = DecodeFold()
        self.last_decode: ev.DecodeStats | None = None
        self.last_sample: DecodeSample | None = None
        self.decode_offset_s: float | None = None
        self.prefill_count = 0
        self.prefilled = 0
        self.http_ok = 0
        self.http_client_errors = 0
        self.http_server_errors = 0
        self.log_problem = ""
        self.window: dict[str, CycleColumns] = {}
        self.summaries: dict[str, ev.ProbeSummary] = {}
        self.prefill_ms: dict[ev.Phase, deque[float]] = {}
        self.history = {metric: History() for metric in HISTORY_METRICS}
        self.runs: list[RunFold] = []
        self.probe_cost: ev.ProbeCostMeasured | None = None
        self.device_timers: ev.DeviceTimersSampled | None = None
        self.gpus: tuple[ev.Gpu, ...] = ()
        self.log: deque[str] = deque(maxlen=LOG_LINES)
        self.log_total = 0
        self.alerts: deque[ev.Alert] = deque(maxlen=20)
        self.notes: list[str] = []
        self.command: CommandView | None = None
        self.load = ""

    @property
    def run(self) -> RunFold | None:
        """The run in progress, or None while nothing serves."""
        return self.runs[-1] if self.runs and self.runs[-1].ended_s is None else None

    def forget_figures(self) -> None:
        """Another configuration begins: nothing measured before belongs to it."""
        self.decode = DecodeFold(self.interval)
        self.last_decode = self.last_sample = None
        self.decode_offset_s = None
        self.prefilled = self.http_ok = 0
        self.window, self.summaries = {}, {}
        self.device_timers = None

    @property
    def interval(self) -> int | None:
        """The decode-log-interval where the log or the launch tells it."""
        return self.compared.interval or known_interval(self.launch)

    def compare_settings(self) -> None:
        """Compare anew what was asked for with what the log says of it."""
        self.compared = compare(self.launch, self.adjusted, self.arguments)
        run = self.run
        if run is not None and self.server_phase != "starting":
            run.adopt(overlaid(run.settings, self.compared.told))
            run.differences = tuple(map(in_words, self.compared.changed))

    def add_alert(self, alert: ev.Alert) -> None:
        """Keep an alert, once."""
        if alert not in self.alerts:
            self.alerts.append(alert)


#: What folds one kind of event.
Handler = Callable[[Facts, Any], None]

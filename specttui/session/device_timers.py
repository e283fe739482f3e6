"""The cross-check: SGLang's own device timers beside ours, where the server keeps them."""

from __future__ import annotations

from specttui.events import DeviceTimersSampled, Launch
from specttui.host.ready import endpoint_of
from specttui.host.remote import Remote
from specttui.host.remote_python import run_program
from specttui.launch.settings import Config
from specttui.state.session_state import SessionState

#: The variable that switches the timers on (SGLang 0.5.11 and newer), beside `--enable-metrics`.
VARIABLE = "SGLANG_ENABLE_METRICS_DEVICE_TIMER"
#: Cycles before a comparison is worth showing: the last half second of them is always under way.
ENOUGH_CYCLES = 500


class DeviceTimers:
    """Counters since the first look at a server, and the cycles that the probe saw meanwhile.

    Args:
        remote: The host.
        state: Tells how many cycles the probe has written.
    """

    def __init__(self, remote: Remote, state: SessionState) -> None:
        self._remote = remote
        self._state = state
        self._first: tuple[int, dict[str, float], int] | None = None

    async def look(self, launch: Launch, pid: int, config: Config | None) -> DeviceTimersSampled | None:
        """Read the counters; None where there are none, or too little has passed since the first look.

        Raises:
            RemoteCommandError: The host could not be asked.
            ConnectionLostError: The connection broke.
        """
        cycles = self._cycles()
        if launch.env.get(VARIABLE, "0") in {"", "0", "false", "False"} or not cycles:
            return None
        endpoint = endpoint_of(launch, config)
        parameters = {
            "host": endpoint.host,
            "port": endpoint.port,
            "tls": endpoint.tls,
            "api_key": endpoint.api_key,
        }
        seconds = await run_program(self._remote, "device_timers", parameters)
        if not seconds:
            return None
        if self._first is None or self._first[0] != pid or cycles < self._first[2]:
            self._first = pid, seconds, cycles
            return None
        _, before, first = self._first
        if cycles - first < ENOUGH_CYCLES:
            return None
        gpu_s = {category: value - before.get(category, 0.0) for category, value in seconds.items()}
        return DeviceTimersSampled(gpu_s=gpu_s, cycles=cycles - first)

    def _cycles(self) -> int:
        """Cycles of the first writing rank in the present run."""
        run = self._state.run
        columns = run.current.main_cycles if run is not None else None
        return columns.total if columns is not None else 0

"""A live session: the commands of the user, carried out on the host and told as events."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from specttui.errors import (
    ServerNotFoundError,
    SpecttuiError,
    WorkerFileError,
)
from specttui.events import (
    Clock,
    NoteAdded,
    ProbeCostMeasured,
)
from specttui.host.ready import endpoint_of
from specttui.launch.edits import Edit, LaunchDiff
from specttui.session.api import DraftConfigView, PatchPreview, ProbeWay
from specttui.session.core import SessionCore
from specttui.session.export import write_report
from specttui.session.load import LoadPlan, run_load
from specttui.session.probe_cost import measure_probe_cost

#: How the probe's cost is measured: about a minute and a half in all.
COST_PAIRS = 4
COST_STRETCH_S = 8.0

_WAYS: dict[ProbeWay, str] = {
    "file": "in the file; takes effect at the next restart (r)",
    "import_hook": "by an import hook, no file changed; takes effect at the next restart (r)",
}


class Session(SessionCore):
    """The commands of `SessionApi` on a real host; each goes through the command runner."""

    async def back_up(self) -> str:
        """Copy the worker file beside itself and into the session folder."""
        path = self._worker_path()
        backup = await self._commands.run(
            "back up",
            f"copy {path}",
            lambda: self._keeper.back_up(path),
            done=lambda made: f"{made.remote_path} and {made.local_path}",
        )
        return backup.remote_path

    async def preview_patch(self, clock: Clock = Clock.EVENTS, way: ProbeWay | None = None) -> PatchPreview:
        """Say what patching would do."""
        return await self._keeper.preview(self._worker_path(), self._watch.worker_class, clock, way)

    async def patch(self, clock: Clock = Clock.EVENTS, way: ProbeWay | None = None) -> None:
        """Put the block into the worker file; takes effect at the next start."""
        path, worker = self._worker_path(), self._watch.worker_class
        await self._commands.run(
            "patch",
            f"append the probe to {path}, clock {clock.value}",
            lambda: self._keeper.patch(path, worker, clock, way),
            done=lambda taken: _WAYS[taken],
        )

    async def restore(self) -> None:
        """Bring the original of everything back that we changed on the host, or found changed."""
        plan = self._changes.plan(self._worker_path)
        await self._commands.run(
            "restore",
            f"bring the original of {', '.join(plan)} back",
            lambda: self._changes.restore(self._worker_path),
            done=lambda _: "byte for byte the original; the running server keeps the probe until it restarts",
        )

    def preview_restart(self, edits: Sequence[Edit]) -> LaunchDiff:
        """What a restart with these edits would run."""
        return self._restarts.preview(edits)

    async def restart(self, edits: Sequence[Edit], *, retry_hung: bool = False) -> None:
        """Stop the server, start it with the edits, wait until it serves."""
        await self._restarts.restart(edits, retry_hung=retry_hung)

    async def restart_last_good(self) -> None:
        """Start the last launch whose server became ready."""
        await self._restarts.last_good()

    def extend_start(self, seconds: float) -> None:
        """Wait so much longer for the server that is being started."""
        self._restarts.extend(seconds)

    async def view_draft_config(self) -> DraftConfigView:
        """Read the draft model's config.json."""
        return await self._draft.view()

    async def edit_draft_config(self, text: str) -> None:
        """Write the draft model's config.json; takes effect at the next start."""
        await self._commands.run(
            "edit draft config",
            "back up and rewrite the draft model's config.json",
            lambda: self._draft.edit(text),
            done=lambda changed: f"{changed}; takes effect at the next restart (r)",
        )

    async def restore_draft_config(self) -> None:
        """Bring the original of the draft model's config.json back."""
        await self._commands.run(
            "restore draft config",
            "bring the original of the draft model's config.json back",
            self._draft.restore,
            done=lambda paths: ", ".join(paths) or "it holds its original",
        )

    async def set_clock(self, clock: Clock) -> None:
        """Switch the running probe to another clock, or off."""
        await self._commands.run("clock", f"probe clock {clock.value}", lambda: self._keeper.set_clock(clock))

    async def measure_probe_cost(self) -> None:
        """Switch the probe off and on in turn, and compare cycle times."""
        await self._commands.run(
            "probe cost",
            "switch the probe off and on in turn under the present traffic",
            self._measure_probe_cost,
            done=lambda cost: f"{100 * cost.change:+.1f} % of the cycle",
        )

    async def _measure_probe_cost(self) -> ProbeCostMeasured:
        probe = self.state.probe
        if probe.status not in {"live", "off"}:
            raise SpecttuiError(
                "No probe runs whose cost could be measured",
                remedy="Patch the worker file (p) and restart (r) first.",
            )
        clock = probe.clock if probe.clock not in {None, Clock.OFF} else Clock.EVENTS
        cost = await measure_probe_cost(
            self.state,
            lambda: self.emitter.offset_s,
            self._keeper.set_clock,
            clock=clock or Clock.EVENTS,
            pairs=COST_PAIRS,
            stretch_s=COST_STRETCH_S,
        )
        self.emitter.emit(cost)
        return cost

    async def run_load(self, concurrency: int, requests: int, max_new_tokens: int) -> None:
        """Send the bundled prompts to the server."""
        server, launch = self.state.server, self.launch
        if server is None or launch is None:
            raise ServerNotFoundError("No server is known to send load to", remedy="Look for one first.")
        endpoint = endpoint_of(launch, self._launches.config)
        plan = LoadPlan(
            concurrency=concurrency,
            requests=requests,
            max_new_tokens=max_new_tokens,
            port=endpoint.port,
            host=_reachable(endpoint.host),
            tls=endpoint.tls,
            api_key=endpoint.api_key,
            interpreter=server.interpreter,
        )
        self._loads += 1
        load_id = self._loads
        await self._commands.run(
            "load",
            f"{requests} requests, {concurrency} at a time, {max_new_tokens} tokens each",
            lambda: self._load(plan, load_id),
        )

    async def _load(self, plan: LoadPlan, load_id: int) -> None:
        result = await run_load(self._remote, plan, self.emitter.emit, load_id=load_id)
        if result.finished.error and not result.requests:
            raise SpecttuiError(
                "The load failed",
                cause=result.finished.error,
                remedy="See the server's log; try fewer requests at a time.",
            )

    async def add_note(self, text: str) -> None:
        """Put a note into the recording and the report."""
        self.emitter.emit(NoteAdded(text=text))

    async def export(self, path: Path | None = None) -> Path:
        """Write the session as markdown; returns where."""
        return await self._commands.run(
            "export",
            str(path or self.folder.report_path),
            lambda: self._export(path),
            changes_host=False,
            done=str,
        )

    async def _export(self, path: Path | None) -> Path:
        return write_report(self.folder.path, path)

    async def cancel(self) -> None:
        """Cancel the command in progress at its next safe point."""
        await self._commands.cancel()

    def _worker_path(self) -> str:
        path = self._watch.worker_path
        if not path:
            raise WorkerFileError(
                "No worker file is known",
                cause="The server decodes without speculation, or none was found.",
                remedy="Restart with speculation first, or name the file: specttui restore HOST --file PATH",
            )
        return path


def _reachable(host: str) -> str:
    """The address at which the host itself reaches what listens on all addresses."""
    return "127.0.0.1" if host in {"", "0.0.0.0", "::"} else host  # noqa: S104 - compared, not bound

"""A live session: the commands of the user, carried out on its hosts and told as events."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from specttui.errors import (
    ServerNotFoundError,
    SpecttuiError,
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
from specttui.session.leftovers import in_words
from specttui.session.load import LoadPlan, run_load
from specttui.session.node import Node
from specttui.session.node_previews import refuse_patched, with_other_previews
from specttui.session.probe_cost import measure_probe_cost
from specttui.session.together import in_turn, on_all_or_none, on_each

#: How the probe's cost is measured: about a minute and a half in all.
COST_PAIRS = 4
COST_STRETCH_S = 8.0

_WAYS: dict[ProbeWay, str] = {
    "file": "in the file; takes effect at the next restart (r)",
    "import_hook": "by an import hook, no file changed; takes effect at the next restart (r)",
}


class Session(SessionCore):
    """The commands of `SessionApi` on real hosts; each goes through the command runner.

    Of a server that spans several hosts, every one is changed or none.
    """

    async def back_up(self) -> str:
        """Copy the worker file beside itself and into the session folder; of several hosts, on each."""
        path = self.head.worker_path()
        backups = await self._commands.run(
            "back up",
            f"copy {path}",
            lambda: in_turn(self.nodes, lambda node: node.keeper.back_up(node.worker_path())),
            done=lambda made: f"{made[0].remote_path} and {made[0].local_path}",
        )
        return backups[0].remote_path

    async def preview_patch(self, clock: Clock = Clock.EVENTS, way: ProbeWay | None = None) -> PatchPreview:
        """Say what patching would do; of several hosts, on the one that answers clients."""
        previews = await self._previews(clock, way)
        return with_other_previews(previews, [node.name for node in self.nodes])

    async def _previews(self, clock: Clock, way: ProbeWay | None) -> list[PatchPreview]:
        return await on_each(self.nodes, lambda node: node.preview_patch(clock, way))

    async def patch(self, clock: Clock = Clock.EVENTS, way: ProbeWay | None = None) -> None:
        """Put the block into the worker file; takes effect at the next start."""
        path = self.head.worker_path()
        await self._commands.run(
            "patch",
            f"append the probe to {path}, clock {clock.value}",
            lambda: self._patch(clock, way),
            done=lambda taken: _WAYS[taken[0]],
        )

    async def _patch(self, clock: Clock, way: ProbeWay | None) -> list[ProbeWay]:
        if len(self.nodes) > 1:
            refuse_patched(await self._previews(clock, way), [node.name for node in self.nodes])
        return await on_all_or_none(
            self.nodes,
            lambda node: node.keeper.patch(node.worker_path(), node.watch.worker_class, clock, way),
            lambda node: node.changes.unpatch(),
        )

    def preview_restore(self) -> tuple[str, ...]:
        """What restoring would bring back or take away."""
        plans = {node.name: node.changes.plan(node.worker_path) for node in self.nodes}
        several = len(plans) > 1
        return tuple(
            f"{path} on {name}" if several else path for name, paths in plans.items() for path in paths
        )

    async def restore(self, *, take_over: bool = False) -> None:
        """Bring the original of everything back that we changed on the hosts, or found changed."""
        await self._commands.run(
            "restore",
            f"bring the original of {', '.join(self.preview_restore())} back",
            lambda: in_turn(
                self.nodes, lambda node: node.changes.restore(node.worker_path, take_over=take_over)
            ),
            done=lambda _: "byte for byte the original; the running server keeps the probe until it restarts",
        )

    async def restore_leftovers(self, *, take_over: bool = False) -> None:
        """Bring originals back and clear away all that dead sessions left."""
        await self._commands.run(
            "restore leftovers",
            f"bring back or clear away {in_words(self.leftovers)}",
            lambda: in_turn(self.nodes, lambda node: node.changes.restore_leftovers(take_over=take_over)),
            done=lambda _: "originals are back byte for byte",
        )

    async def adopt_leftovers(self, *, take_over: bool = False) -> None:
        """Take what dead sessions left over as our own."""
        await self._commands.run(
            "adopt leftovers",
            f"take over {in_words(self.leftovers)}",
            lambda: in_turn(self.nodes, lambda node: node.changes.adopt(take_over=take_over)),
            done=lambda _: "ours now; restoring brings the originals back",
        )

    def ignore_leftovers(self) -> None:
        """Touch nothing of what was left, and ask no more about it in this session."""
        for node in self.nodes:
            node.changes.ignore()

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
        return await self.head.draft.view()

    async def edit_draft_config(self, text: str) -> None:
        """Write the draft model's config.json; takes effect at the next start."""
        await self._commands.run(
            "edit draft config",
            "back up and rewrite the draft model's config.json",
            lambda: self._edit_draft_config(text),
            done=lambda changed: f"{changed[0]}; takes effect at the next restart (r)",
        )

    async def _edit_draft_config(self, text: str) -> list[str]:
        """Edit on every host; where it fails on one, each gets back what it held before."""
        views = await on_each(self.nodes, lambda node: node.draft.view()) if len(self.nodes) > 1 else []
        before = {node.name: view for node, view in zip(self.nodes, views, strict=False)}

        async def undo(node: Node) -> None:
            view = before[node.name]
            await (node.draft.edit(view.text) if view.changed else node.draft.restore())

        return await on_all_or_none(self.nodes, lambda node: node.draft.edit(text), undo)

    async def restore_draft_config(self) -> None:
        """Bring the original of the draft model's config.json back."""
        await self._commands.run(
            "restore draft config",
            "bring the original of the draft model's config.json back",
            lambda: in_turn(self.nodes, lambda node: node.draft.restore()),
            done=lambda paths: ", ".join(paths[0]) or "it holds its original",
        )

    async def set_clock(self, clock: Clock) -> None:
        """Switch the running probe to another clock, or off."""
        await self._commands.run("clock", f"probe clock {clock.value}", lambda: self._set_clock(clock))

    async def _set_clock(self, clock: Clock) -> None:
        await on_each(self.nodes, lambda node: node.keeper.set_clock(clock))

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
            self._set_clock,
            clock=clock or Clock.EVENTS,
            pairs=COST_PAIRS,
            stretch_s=COST_STRETCH_S,
        )
        self.head.emitter.emit(cost)
        return cost

    async def run_load(self, concurrency: int, requests: int, max_new_tokens: int) -> None:
        """Send the bundled prompts to the server."""
        server, launch = self.state.server, self.launch
        if server is None or launch is None:
            raise ServerNotFoundError("No server is known to send load to", remedy="Look for one first.")
        endpoint = endpoint_of(launch, self.head.launches.config)
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
        result = await run_load(self.head.remote, plan, self.head.emitter.emit, load_id=load_id)
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


def _reachable(host: str) -> str:
    """The address at which the host itself reaches what listens on all addresses."""
    return "127.0.0.1" if host in {"", "0.0.0.0", "::"} else host  # noqa: S104 - compared, not bound

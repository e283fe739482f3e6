"""A SessionApi with scripted snapshots that records its calls: no host, no clock, no chance."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from specttui.errors import SpecttuiError
from specttui.events import Clock, Launch
from specttui.host.locks import LockedError
from specttui.launch.change import apply
from specttui.launch.diff import describe
from specttui.launch.edits import Edit, LaunchDiff
from specttui.session.api import DraftConfigView, Leftover, PatchPreview
from specttui.state.snapshot import Series, Snapshot
from support.scripted_snapshots import LAUNCH, NOW_S, WORKER_PATH, serving, wave

DRAFT_CONFIG = """\
{
  "architectures": ["LlamaForCausalLMEagle3"],
  "eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 29, 57]}
}
"""


class ScriptedSession:
    """Shows one snapshot at a time; `calls` holds every command with its arguments.

    Args:
        snapshot: What is shown at first; tests set `current` to go on.
        readonly: As in SessionApi.
        patched: As in SessionApi.
        can_roll_back: As in SessionApi.
        failure: Raised by the commands named in `failing`.
        failing: Names of commands that fail.
        held: Names of commands that wait until `release` is set.
        other_changes: What else of ours is on the host; also makes the draft's configuration an edited one.
        leftovers: What other sessions left, until it is dealt with.
        locked: Raised by commands that would touch a living session's things, unless they take over.
    """

    def __init__(
        self,
        snapshot: Snapshot | None = None,
        *,
        readonly: bool = False,
        patched: bool = False,
        can_roll_back: bool = False,
        launch: Launch | None = LAUNCH,
        failure: SpecttuiError | Exception | None = None,
        failing: Sequence[str] = (),
        held: Sequence[str] = (),
        other_changes: Sequence[str] = (),
        leftovers: Sequence[Leftover] = (),
        locked: LockedError | None = None,
    ) -> None:
        self.current = snapshot or serving()
        self.readonly = readonly
        self._patched = patched
        self._can_roll_back = can_roll_back
        self._launch = launch
        self.failure = failure
        self.failing = frozenset(failing)
        self.held = frozenset(held)
        self.release = asyncio.Event()
        self.other_changes = tuple(other_changes)
        self.leftovers = tuple(leftovers)
        self.locked = locked
        self.calls: list[tuple[object, ...]] = []

    def snapshot(self) -> Snapshot:
        return self.current

    def history(self, metric: str) -> Series:
        levels = {"throughput": 80.0, "accept_len": 1.9, "cycle": 22.0, "verify": 21.0, "draft": 0.4}
        if metric not in levels:
            return Series()
        series = wave(levels[metric], levels[metric] * 0.1, count=120, window_s=NOW_S)
        values = tuple(None if 40 <= index < 46 else value for index, value in enumerate(series.values))
        return Series(series.offsets_s, values, NOW_S)

    @property
    def launch(self) -> Launch | None:
        return self._launch

    @property
    def can_roll_back(self) -> bool:
        return self._can_roll_back

    @property
    def patched(self) -> bool:
        return self._patched

    @property
    def changes_on_host(self) -> tuple[str, ...]:
        worker = ("The worker file on the host is patched.",) if self._patched else ()
        return (*worker, *self.other_changes)

    async def back_up(self) -> str:
        await self._called("back_up")
        return WORKER_PATH + ".specttui-orig"

    async def preview_patch(self, clock: Clock = Clock.EVENTS) -> PatchPreview:
        await self._called("preview_patch", clock)
        return PatchPreview(
            path=WORKER_PATH,
            worker_class="EAGLEWorker",
            family="eagle",
            cycle_method="forward_batch_generation",
            clock=clock,
            phases_found={
                "draft": "line 301: self.draft(batch)",
                "verify": "line 306: self.verify(batch, spec_info)",
                "draft_extend": "line 318: self.forward_draft_extend_after_decode(batch)",
            },
            phases_missing={"kv": "no call in the cycle method frees the cache"},
            diff_lines=(
                "--- eagle_worker.py", "+++ eagle_worker.py (patched)", "@@ -1021,3 +1021,9 @@",
                "         return logits_output, next_token_ids", " ",
                *(f"+# block line {number} [rank0]" for number in range(60)),
            ),
            original_sha256="0123456789ab" + "0" * 52,
            patched_sha256="ba9876543210" + "0" * 52,
            backup_path=WORKER_PATH + ".specttui-orig",
        )  # fmt: skip

    async def patch(self, clock: Clock = Clock.EVENTS) -> None:
        await self._called("patch", clock)

    def preview_restore(self) -> tuple[str, ...]:
        return (*((WORKER_PATH,) if self._patched else ()), *(left.path for left in self.leftovers))

    async def restore(self, *, take_over: bool = False) -> None:
        await self._taking_over("restore", take_over)

    async def restore_leftovers(self, *, take_over: bool = False) -> None:
        await self._taking_over("restore_leftovers", take_over)
        self.leftovers = ()

    async def adopt_leftovers(self, *, take_over: bool = False) -> None:
        await self._taking_over("adopt_leftovers", take_over)
        self.leftovers = ()

    def ignore_leftovers(self) -> None:
        self.calls.append(("ignore_leftovers",))
        self.leftovers = ()

    async def _taking_over(self, name: str, take_over: bool) -> None:
        await self._called(name, *(("take_over",) if take_over else ()))
        if self.locked is not None and not take_over:
            raise self.locked

    def preview_restart(self, edits: Sequence[Edit]) -> LaunchDiff:
        return describe(LAUNCH, apply(LAUNCH, edits))

    async def restart(self, edits: Sequence[Edit], *, retry_hung: bool = False) -> None:
        await self._called("restart", tuple(edits))

    def extend_start(self, seconds: float) -> None:
        self.calls.append(("extend_start", seconds))
        if "extend_start" in self.failing and self.failure is not None:
            raise self.failure

    async def view_draft_config(self) -> DraftConfigView:
        await self._called("view_draft_config")
        return DraftConfigView(
            path="/models/kimi-k2.5-eagle3/config.json",
            text=DRAFT_CONFIG,
            layer_ids={"eagle_config.eagle_aux_hidden_state_layer_ids": (1, 29, 57)},
            sha256="0" * 64,
            original_sha256="0" * 64,
            changed=bool(self.other_changes),
        )

    async def edit_draft_config(self, text: str) -> None:
        await self._called("edit_draft_config", text)

    async def restore_draft_config(self) -> None:
        await self._called("restore_draft_config")

    async def restart_last_good(self) -> None:
        await self._called("restart_last_good")

    async def set_clock(self, clock: Clock) -> None:
        await self._called("set_clock", clock)

    async def measure_probe_cost(self) -> None:
        await self._called("measure_probe_cost")

    async def run_load(self, concurrency: int, requests: int, max_new_tokens: int) -> None:
        await self._called("run_load", concurrency, requests, max_new_tokens)

    async def add_note(self, text: str) -> None:
        await self._called("add_note", text)

    async def export(self, path: Path | None = None) -> Path:
        await self._called("export", path)
        return path or Path("/sessions/20260211-140000-demo/report.md")

    async def cancel(self) -> None:
        await self._called("cancel")

    async def rediscover(self) -> None:
        await self._called("rediscover")

    async def _called(self, name: str, *arguments: object) -> None:
        self.calls.append((name, *arguments))
        if name in self.held:
            await self.release.wait()
        if name in self.failing and self.failure is not None:
            raise self.failure

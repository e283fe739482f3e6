"""The commands as the user lives them: ask, show exactly what will be done, do it, say what came of it.

Each flow runs in a worker of its own. Errors of the session pass through: the program shows them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol

from specttui.host.locks import LockedError
from specttui.launch.presets import is_active
from specttui.ui.desk import Desk
from specttui.ui.screens.ask import AskScreen
from specttui.ui.screens.clock import ClockScreen
from specttui.ui.screens.confirm import ConfirmScreen
from specttui.ui.screens.draft_config import DraftConfigScreen
from specttui.ui.screens.leftovers import LeftoversChoice, LeftoversScreen
from specttui.ui.screens.load import LoadScreen
from specttui.ui.screens.patch import PatchScreen
from specttui.ui.screens.quit import QuitChoice, QuitScreen
from specttui.ui.screens.restart import RestartScreen

_WHAT_COMES_BACK = "get their originals back, byte for byte; what else was left is cleared away."


class TakingOver(Protocol):
    """A command that leaves what living sessions work on alone, unless it is told to take over."""

    async def __call__(self, *, take_over: bool) -> None:
        """Do it."""
        ...


#: A flow: everything one command does, from the first question to the last message.
Flow = Callable[[Desk], Awaitable[None]]


async def back_up(desk: Desk) -> None:
    """Copy the worker file, after asking."""
    snapshot = desk.session.snapshot()
    path = snapshot.server.worker.path if snapshot.server else "the worker file"
    lines = (
        path,
        "",
        "is copied beside itself on the host and into the session's folder. Nothing is changed.",
    )
    if await desk.ask(ConfirmScreen("Back up the worker file", lines, "Back up")):
        desk.tell(await desk.session.back_up(), "Backed up to")


async def patch(desk: Desk) -> None:
    """Show what the probe would add; patch when the user agrees."""
    preview = await desk.session.preview_patch()
    clock = await desk.ask(PatchScreen(preview, desk.session.preview_patch))
    if clock is None:
        return
    await desk.session.patch(clock)
    desk.tell("The probe starts with the server: press r to restart it.", "Patched")


async def restart(desk: Desk) -> None:
    """Ask for changes with their before and after; restart."""
    snapshot = desk.session.snapshot()
    launch = desk.session.launch
    active = [preset.name for preset in desk.presets if launch is not None and is_active(preset, launch)]
    edits = await desk.ask(RestartScreen(snapshot, desk.session.preview_restart, desk.presets, active))
    if edits is not None:
        desk.resume()
        await desk.session.restart(edits, retry_hung=True)  # the dialog has told


async def restore(desk: Desk) -> None:
    """Bring the originals back, after asking."""
    plan = desk.session.preview_restore()
    worker_only = all(path.endswith(".py") for path in plan)
    what = "the worker file" if worker_only else "what was changed"
    becomes = "gets its original bytes back, proved by size and sha256." if worker_only else _WHAT_COMES_BACK
    lines = (*plan, "", becomes, "A running server keeps the probe in memory until it is restarted.")
    if not await desk.ask(ConfirmScreen(f"Restore {what}", lines, "Restore")):
        return
    if await _unless_locked(desk, desk.session.restore):
        desk.tell(f"{what.capitalize()} is byte for byte the original.", "Restored")


async def leftovers(desk: Desk) -> None:
    """Show what other sessions left on the host, and do with it what the user says."""
    session = desk.session
    choice = await desk.ask(LeftoversScreen(session.leftovers))
    try:
        if choice is LeftoversChoice.RESTORE and await _unless_locked(desk, session.restore_leftovers):
            desk.tell("What was left is gone; the originals are in place.", "Restored")
        elif choice is LeftoversChoice.ADOPT and await _unless_locked(desk, session.adopt_leftovers):
            desk.tell("It is this session's own now: x restores it.", "Adopted")
    finally:
        session.ignore_leftovers()  # what could not be dealt with was told


async def _unless_locked(desk: Desk, act: TakingOver) -> bool:
    """Do something; where a living session holds a lock, say who and ask before taking over."""
    try:
        await act(take_over=False)
    except LockedError as locked:
        lines: list[str] = []
        for held in (locked, *locked.others):
            lines += [held.path, f"{held.holder.words}.", ""]
        lines.append("That session may still be writing there. Take it over all the same?")
        if not await desk.ask(ConfirmScreen("Another session lives", lines, "Take over")):
            return False
        await act(take_over=True)
    return True


async def roll_back(desk: Desk) -> None:
    """Start the last configuration that became ready, after asking."""
    lines = (
        "The server is stopped if it runs, and started with the last",
        "configuration that became ready.",
    )
    if await desk.ask(ConfirmScreen("Start the last good configuration", lines, "Start it")):
        await roll_back_at_once(desk)


async def roll_back_at_once(desk: Desk) -> None:
    """The same without a question: the failure's dialog was one."""
    desk.resume()
    await desk.session.restart_last_good()


async def load(desk: Desk) -> None:
    """Ask for the load's size and send it."""
    answer = await desk.ask(LoadScreen())
    if answer is not None:
        desk.resume()
        await desk.session.run_load(answer.concurrency, answer.requests, answer.max_new_tokens)


async def clock(desk: Desk) -> None:
    """Ask for a clock and switch the running probe to it."""
    chosen = await desk.ask(ClockScreen(desk.session.snapshot().probe.clock))
    if chosen is not None:
        await desk.session.set_clock(chosen)


async def cost(desk: Desk) -> None:
    """Measure what the probe costs, after asking."""
    lines = (
        "The running probe is switched off and on in turn, for a minute and a half,",
        "under the traffic that is there. The server is not restarted.",
    )
    if await desk.ask(ConfirmScreen("Measure the probe's cost", lines, "Measure")):
        desk.resume()
        await desk.session.measure_probe_cost()


async def rediscover(desk: Desk) -> None:
    """Look for the server again; without a connection, connect again first."""
    if not await desk.connect_again():
        await desk.session.rediscover()


async def export(desk: Desk) -> None:
    """Ask for a path and write the session there."""
    session_id = desk.session.snapshot().session_id or "session"
    default = f"specttui-{session_id}.md"
    hint = "Markdown; an existing file is replaced. Empty: into the session's folder."
    answer = await desk.ask(AskScreen("Export the session", "Path", hint, default, empty_allowed=True))
    if answer is not None:
        written = await desk.session.export(_local_path(answer))
        desk.tell(str(written), "Written to")


def _local_path(text: str) -> Path | None:
    """A typed path, `~` resolved; None for an empty one."""
    return Path(text).expanduser().absolute() if text else None


async def note(desk: Desk) -> None:
    """Ask for a text and put it into the recording."""
    answer = await desk.ask(AskScreen("Note", "Text", "Goes into the recording and the report."))
    if answer:
        await desk.session.add_note(answer)
        desk.tell(answer, "Noted")


async def leave(desk: Desk) -> None:
    """Leave; while something of ours is on the host or a command runs, ask first."""
    session = desk.session
    command = session.snapshot().command
    running = command.name if command is not None and command.status == "running" else ""
    changes = () if session.readonly else session.changes_on_host
    if not running and not changes:
        desk.leave()
        return
    choice = await desk.ask(QuitScreen(changes, running=running))
    if choice is None or choice is QuitChoice.STAY:
        return
    if running:
        await session.cancel()
    if choice is QuitChoice.RESTORE and not await _unless_locked(desk, session.restore):
        return
    desk.leave()


async def draft_config(desk: Desk) -> None:
    """Show the draft model's config.json; write an edit of it, or bring the original back."""
    answer = await desk.ask(DraftConfigScreen(await desk.session.view_draft_config()))
    if answer is None:
        return
    if answer.text is None:
        await desk.session.restore_draft_config()
        desk.tell("The draft's config.json is byte for byte the original.", "Restored")
    else:
        await desk.session.edit_draft_config(answer.text)
        desk.tell("It counts from the server's next start on: press r to restart it.", "Written")


#: The flows by the name of their command.
FLOWS: dict[str, Flow] = {
    "back_up": back_up,
    "patch": patch,
    "restart": restart,
    "restore": restore,
    "draft_config": draft_config,
    "roll_back": roll_back,
    "load": load,
    "clock": clock,
    "cost": cost,
    "rediscover": rediscover,
    "export": export,
    "note": note,
}

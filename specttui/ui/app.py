"""The program: ticks a snapshot to the screen, runs commands in workers, shows their failures."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from textual.app import App, SystemCommand
from textual.filter import LineFilter
from textual.notifications import SeverityLevel
from textual.screen import Screen
from textual.worker import Worker, WorkerState

from specttui.errors import ServerStartError, SpecttuiError
from specttui.events import Alert, Severity
from specttui.launch.edits import Preset
from specttui.session.api import SessionApi
from specttui.state.snapshot import Snapshot
from specttui.ui import flows
from specttui.ui.alert_times import AlertTimes
from specttui.ui.availability import Facts, facts, leftovers_offered
from specttui.ui.keys import app_bindings
from specttui.ui.palette import palette_commands
from specttui.ui.plain_filter import PlainFilter
from specttui.ui.prompter import ScreenPrompter
from specttui.ui.render.glyphs import BLOCKS, Glyphs
from specttui.ui.screens.error import ErrorScreen
from specttui.ui.screens.help import HelpScreen
from specttui.ui.screens.main import MainScreen
from specttui.ui.screens.timeline import TimelineScreen
from specttui.ui.styles import style_sheets
from specttui.ui.terminal_signals import on_ending_signals
from specttui.ui.theme import SPECTTUI_DARK

Answer = TypeVar("Answer")

#: While the terminal is not looked at, only every so many ticks are drawn.
UNFOCUSED_TICKS = 4
#: What "wait longer" adds to a start's limits, in seconds.
EXTRA_S = 600.0
_SEVERITIES: dict[Severity, SeverityLevel] = {
    Severity.INFO: "information",
    Severity.WARNING: "warning",
    Severity.ERROR: "error",
}


class SpecttuiApp(App[int]):
    """The screen of a session.

    Args:
        session: What is drawn and whose commands are called.
        refresh_hz: Snapshots drawn per second.
        replay: True when the session is played from a recording.
        start: Starts the session (connect, discover) once the screen stands; failures become dialogs.
        prompter: Asks the connection's questions on this screen.
        presets: What the restart dialog offers; `specttui.launch.presets.PRESETS` by default.
        glyphs: What bars and sparklines are drawn with.
        theme: A theme's name; our own by default.
        keymap: Other keys for commands, by the ids of `specttui.ui.keys`.
    """

    TITLE = "specttui"
    BINDINGS = app_bindings()
    CLOSE_TIMEOUT = 5.0

    def __init__(
        self,
        session: SessionApi,
        *,
        refresh_hz: float = 2.0,
        replay: bool = False,
        start: Callable[[], Awaitable[None]] | None = None,
        prompter: ScreenPrompter | None = None,
        presets: Sequence[Preset] | None = None,
        glyphs: Glyphs = BLOCKS,
        theme: str = SPECTTUI_DARK.name,
        keymap: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(css_path=style_sheets())
        self.session = session
        self.replay = replay
        self.live: Snapshot = session.snapshot()
        self.main = MainScreen(glyphs)
        self._refresh_s = 1.0 / refresh_hz
        self._start = start
        self._presets = presets
        self._glyphs = glyphs
        self._unfocused_ticks = 0
        self._focused = True
        self._alert_times = AlertTimes(self.live.alerts)
        self._remove_signals: Callable[[], None] = lambda: None
        self._plain = PlainFilter()
        self.animation_level = "none"
        self.register_theme(SPECTTUI_DARK)
        self.theme = theme
        if keymap:
            self.set_keymap(dict(keymap))
        if prompter is not None:
            prompter.attach(self)

    @property
    def presets(self) -> Sequence[Preset]:
        """What the restart dialog offers."""
        if self._presets is None:
            from specttui.launch.presets import PRESETS

            self._presets = PRESETS
        return self._presets

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Textual's own, and ours, so that no text acts upon the terminal."""
        return [*super().get_line_filters(), self._plain]

    def get_default_screen(self) -> Screen[None]:
        """The main screen."""
        return self.main

    def on_mount(self) -> None:
        """Start the session, the ticks, and the handling of signals."""
        self._remove_signals = on_ending_signals(lambda code: self.exit(code, return_code=code))
        self.set_interval(self._refresh_s, self._tick)
        if self._start is not None:
            self._in_worker(self._start(), "start", "session")

    def on_unmount(self) -> None:
        """Leave signals to whoever comes after."""
        self._remove_signals()

    def on_app_blur(self) -> None:
        """Draw less often while nobody looks."""
        self._focused = False

    def on_app_focus(self) -> None:
        """Draw at once."""
        self._focused = True
        self.draw_now()

    def _tick(self) -> None:
        self._unfocused_ticks += 1
        if self._focused or self._unfocused_ticks % UNFOCUSED_TICKS == 0:
            self.draw_now()

    def draw_now(self) -> None:
        """Take a snapshot and draw it; while the program ends, there is nothing left to draw on."""
        if not self.is_running:
            return
        self.live = self.session.snapshot()
        self._tell_alerts()
        self._offer_leftovers()
        self.main.draw()
        if isinstance(self.screen, TimelineScreen):
            self.screen.show()

    def _tell_alerts(self) -> None:
        """Show each new alert once, as plain text."""
        for alert in self._alert_times.new_in(self.live):
            text = f"{alert.message}\n{alert.remedy}" if alert.remedy else alert.message
            self.notify(text, severity=_SEVERITIES[alert.severity], timeout=8, markup=False)

    def recent_alert(self) -> Alert | None:
        """The newest alert that matters, while it is new."""
        return self._alert_times.recent(self.live)

    def _offer_leftovers(self) -> None:
        """Ask about what other sessions left on the host, once it is known and nothing else goes on."""
        starting = any(worker.group == "session" and not worker.is_finished for worker in self.workers)
        at_rest = self.screen is self.main and not starting and not self.facts().busy
        if at_rest and leftovers_offered(self.session, replay=self.replay):
            self._in_worker(flows.leftovers(self), "leftovers", "command")

    def facts(self) -> Facts:
        """What decides which commands are available."""
        busy = self._busy and self.screen is self.main
        return facts(self.session, self.live, replay=self.replay, busy=busy)

    @property
    def _busy(self) -> bool:
        return any(worker.group == "command" and not worker.is_finished for worker in self.workers)

    def run_command(self, name: str) -> None:
        """Run a command's flow in a worker; only one runs at a time."""
        if self._busy:
            self.tell("Another command is still running.")
            return
        self._in_worker(flows.FLOWS[name](self), name, "command")

    def cancel_command(self) -> None:
        """Ask the session to cancel the command in progress."""
        self.tell("Cancelling at the next safe point.")
        self._in_worker(self.session.cancel(), "cancel", "cancel")

    def wait_longer(self) -> None:
        """Give the server that is being started more time."""
        try:
            self.session.extend_start(EXTRA_S)
        except SpecttuiError as error:
            self.tell(error.title)

    def _in_worker(self, work: Awaitable[None], name: str, group: str) -> None:
        self.run_worker(work, name=name, group=group, exit_on_error=False)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """One place where failures of all workers become dialogs."""
        if not self.is_running:
            return
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            self.show_error(event.worker.error)
        if event.worker.is_finished:
            self.draw_now()

    def show_error(self, error: BaseException) -> None:
        """Show a failure with its cause and remedy; a failed start offers the last good configuration."""
        known = error if isinstance(error, SpecttuiError) else _internal(error)
        offer = isinstance(known, ServerStartError) and self.session.can_roll_back

        def answered(answer: str | None) -> None:
            if answer == "roll_back":
                self._in_worker(flows.roll_back_at_once(self), "roll_back", "command")

        self.push_screen(ErrorScreen(known, offer_roll_back=offer), answered)

    async def ask(self, screen: Screen[Answer]) -> Answer | None:
        """Show a dialog and wait for its answer."""
        return await self.push_screen_wait(screen)

    def tell(self, message: str, title: str = "") -> None:
        """Show a short message as plain text."""
        self.notify(message, title=title, timeout=6, markup=False)

    async def connect_again(self) -> bool:
        """Start the session again when it is not connected."""
        if self._start is None or self.live.connection != "down":
            return False
        await self._start()
        return True

    def resume(self) -> None:
        """Unfreeze the screen."""
        self.main.resume()

    def leave(self) -> None:
        """End the program."""
        self.exit(0)

    def action_request_quit(self) -> None:
        """Leave, after asking where something of ours is still on the host."""
        if not any(worker.group == "leave" and not worker.is_finished for worker in self.workers):
            self._in_worker(flows.leave(self), "leave", "leave")

    def action_interrupt(self) -> None:
        """Ctrl+c: copy what is selected; with nothing selected, leave."""
        selected = getattr(self.focused, "selected_text", "") or self.screen.get_selected_text()
        if selected:
            self.copy_to_clipboard(selected)
            self.tell("Copied, if the terminal allows it (OSC 52).")
        else:
            self.action_request_quit()

    def show_timeline(self) -> None:
        """Show the timeline."""
        self.push_screen(TimelineScreen(self.session, self._glyphs))

    def show_help(self) -> None:
        """Show all keys."""
        displays = {
            active.binding.id: self.get_key_display(active.binding)
            for active in reversed(list(self.main.active_bindings.values()))
            if active.binding.id
        }
        self.push_screen(HelpScreen(displays))

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """The palette: every available command of the main screen, the theme and the picture."""
        if screen is self.main:
            yield from palette_commands(self)
        yield SystemCommand("Theme", "Change the colours.", self.action_change_theme)
        yield SystemCommand("Picture", "Save the screen as SVG.", self.deliver_screenshot)


def _internal(error: BaseException) -> SpecttuiError:
    """An error of our own making, as a dialog can show it."""
    return SpecttuiError(
        "specttui itself failed.",
        cause=f"{type(error).__name__}: {error}",
        remedy="The session goes on. Export it (e) and report this as a bug.",
    )

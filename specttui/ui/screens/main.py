"""The main screen: one snapshot in, panels out. It draws and forwards keys; it knows no host."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.screen import Screen

from specttui.state.snapshot import Snapshot
from specttui.ui.availability import Facts, command_state
from specttui.ui.keys import KEY_BY_ID, main_bindings
from specttui.ui.layout import MINIMUM_HEIGHT, MINIMUM_WIDTH, Plan, Wants, plan
from specttui.ui.render.footer import FooterKey, command_line, footer_line
from specttui.ui.render.glyphs import Glyphs
from specttui.ui.render.header import View, chips_line, gpu_line, title_line
from specttui.ui.render.metrics import accept_panel, histogram_panel, throughput_panel
from specttui.ui.render.middle import middle_panel
from specttui.ui.render.node_table import node_gpus_panel, nodes_panel
from specttui.ui.render.nodes import nodes_line
from specttui.ui.render.panel import Panel, Space
from specttui.ui.render.ranks import gpus_panel, ranks_panel
from specttui.ui.render.runs import runs_panel
from specttui.ui.render.text import STRONG, joined, line
from specttui.ui.render.verdict import verdict_lines, verdict_panel
from specttui.ui.widgets.log_panel import LogPanel
from specttui.ui.widgets.panel_view import PanelView

if TYPE_CHECKING:
    from specttui.ui.app import SpecttuiApp

_METRICS = {"throughput": throughput_panel, "accept": accept_panel, "histogram": histogram_panel}


class MainScreen(Screen[None]):
    """Draws snapshots. Paused, it goes on drawing the one it was paused at.

    Args:
        glyphs: What bars and sparklines are drawn with.
    """

    AUTO_FOCUS = ""
    BINDINGS = main_bindings()

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__()
        self.glyphs = glyphs
        self.maximised = ""
        self.frozen: Snapshot | None = None
        self._facts: Facts | None = None
        self._footer_for: object = None

    @property
    def program(self) -> SpecttuiApp:
        """The app, which has the session."""
        return cast("SpecttuiApp", self.app)

    def compose(self) -> ComposeResult:
        """All panels; the layout says which of them have room."""
        yield PanelView("title", framed=False)
        yield PanelView("chips", framed=False)
        yield PanelView("gpu-line", framed=False)
        yield PanelView("node-line", framed=False)
        yield PanelView("nodes")
        with Horizontal(id="metrics"):
            for name in ("throughput", "accept", "histogram", "gpus"):
                yield PanelView(name)
        with Horizontal(id="middle"):
            yield PanelView("cycle")
            yield PanelView("ranks")
        yield PanelView("verdict")
        yield PanelView("runs")
        yield LogPanel()
        footer = PanelView("footer", framed=False)
        footer.auto_links = False
        yield footer
        yield PanelView("tiny", framed=False)

    def on_resize(self, event: events.Resize) -> None:
        """Share the room out again."""
        del event
        self.draw()

    def draw(self) -> None:
        """Draw the newest snapshot, or the frozen one."""
        live = self.program.live
        shown = self.frozen or live
        width, height = self.size
        if not width or not self.is_mounted:
            return
        layout = plan(width, height, self._wants(shown, width), self.maximised)
        self._place(layout, width)
        if layout.tiny:
            lines = (
                line((f"specttui needs {MINIMUM_WIDTH} x {MINIMUM_HEIGHT} cells;", STRONG)),
                line((f"this terminal has {width} x {height}.", STRONG)),
            )
            self._view("tiny").show_content(joined(lines))
            return
        self._draw_header(shown, live, width)
        self._draw_panels(shown, layout, width)
        self._update_commands(live)

    def _wants(self, snapshot: Snapshot, width: int) -> Wants:
        rows = snapshot.cycle.rows if snapshot.cycle else ()
        whole = sum(1 for row in rows if row.part_of is None)
        return Wants(
            cycle_rows=max(6, len(rows)),
            cycle_whole_rows=max(4, whole),
            run_count=len(snapshot.runs),
            verdict_rows=len(verdict_lines(snapshot, width - 11, self.program.recent_alert())),
            rank_count=len(snapshot.ranks),
            gpu_count=0 if snapshot.nodes else len(snapshot.gpus),
            node_count=len(snapshot.nodes),
        )

    def _place(self, layout: Plan, width: int) -> None:
        """Give every panel its size; what has no room is hidden."""
        self.set_class(layout.framed, "-framed")
        self.set_class(self.glyphs.name == "ascii", "-ascii")
        frame_rows = layout.chrome[1]
        shown = not layout.tiny
        metrics = dict(layout.metric_widths)
        for name in ("throughput", "accept", "histogram", "gpus"):
            rows = layout.metric_rows + frame_rows if name in metrics else 0
            self._view(name).place(metrics.get(name, 1), rows)
        self.query_one("#metrics").display = bool(metrics)
        self.query_one("#middle").display = layout.cycle_rows > 0
        self._view("cycle").place(layout.cycle_width, _framed(layout.cycle_rows, frame_rows))
        ranks_rows = layout.cycle_rows if layout.ranks_width else 0
        self._view("ranks").place(layout.ranks_width or 1, _framed(ranks_rows, frame_rows))
        self._view("nodes").place(width, _framed(layout.node_rows, frame_rows))
        self._view("verdict").place(width, _framed(layout.verdict_rows, frame_rows))
        self._view("runs").place(width, _framed(layout.run_rows, frame_rows))
        self.query_one(LogPanel).display = layout.log_rows > 0
        for name in ("title", "chips", "footer"):
            self._view(name).place(width, 1 if shown else 0)
        self._view("node-line").place(width, layout.node_line_rows)
        self._view("gpu-line").place(width, 1 if shown and layout.header_rows == 3 else 0)
        self._view("tiny").place(width, 0 if shown else 2)

    def _draw_header(self, shown: Snapshot, live: Snapshot, width: int) -> None:
        paused_s = None if self.frozen is None else max(0.0, live.offset_s - self.frozen.offset_s)
        view = View(paused_s, replay=self.program.replay, readonly=self.program.session.readonly)
        self._view("title").show_content(title_line(shown, view, width - 2, self.glyphs))
        self._view("chips").show_content(chips_line(shown, width - 2))
        self._view("gpu-line").show_content(gpu_line(shown.gpus, width - 2))

    def _draw_panels(self, shown: Snapshot, layout: Plan, width: int) -> None:
        frame_columns = layout.chrome[0]

        def space(outer_width: int, rows: int) -> Space:
            return Space(outer_width - frame_columns, rows, layout.framed, self.glyphs)

        for name, metric_width in layout.metric_widths:
            room = space(metric_width, layout.metric_rows)
            panel = _gpus_panel(shown, room) if name == "gpus" else _METRICS[name](shown, room)
            self._show(name, panel, room)
        if layout.node_line_rows:
            self._view("node-line").show_content(nodes_line(shown.nodes, width - 2, self.glyphs))
        if layout.node_rows:
            room = space(width, layout.node_rows)
            self._show("nodes", nodes_panel(shown.nodes, room), room)
        room = space(layout.cycle_width, layout.cycle_rows)
        self._show("cycle", middle_panel(shown, room), room)
        if layout.ranks_width:
            room = space(layout.ranks_width, layout.cycle_rows)
            self._show("ranks", ranks_panel(shown.ranks, room), room)
        room = space(width, layout.verdict_rows)
        self._show("verdict", verdict_panel(shown, room, self.program.recent_alert()), room)
        room = space(width, layout.run_rows)
        self._show("runs", runs_panel(shown, room), room)
        self.query_one(LogPanel).show(shown, space(width, layout.log_rows))

    def _show(self, name: str, panel: Panel, room: Space) -> None:
        self._view(name).show_panel(panel, room)

    def _view(self, name: str) -> PanelView:
        return self.query_one(f"#{name}", PanelView)

    def _update_commands(self, live: Snapshot) -> None:
        """Grey out what makes no sense now; redraw the footer when that, or its width, changed."""
        known = self.program.facts()
        if known != self._facts:
            self._facts = known
            self.refresh_bindings()
        running = live.command if live.command is not None and live.command.status == "running" else None
        wanted = (known, running, self.frozen is None, self.size.width)
        if wanted == self._footer_for:
            return
        self._footer_for = wanted
        keys, width = self.footer_keys(), self.size.width - 2
        content = footer_line(keys, width) if running is None else command_line(running, keys, width)
        self._view("footer").show_content(content)

    def footer_keys(self) -> list[FooterKey]:
        """The keys that the footer may show now, in the table's order, a keymap's changes applied."""
        found: dict[str, FooterKey] = {}
        for active in self.active_bindings.values():
            key = KEY_BY_ID.get(active.binding.id or "")
            if key is None or key.rank is None or key.id in found:
                continue
            label = "resume" if key.id == "pause" and self.frozen is not None else key.label
            display = self.app.get_key_display(active.binding)
            found[key.id] = FooterKey(display, label, _click_action(key.action), key.rank, active.enabled)
        return [found[name] for name in KEY_BY_ID if name in found]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Which commands are available, greyed out or hidden; Textual asks."""
        known = self._facts or self.program.facts()
        if action == "command":
            return command_state(str(parameters[0]), known)
        if action == "cancel_command":
            return known.busy
        if action == "wait_longer":
            return known.starting
        return True

    def action_command(self, name: str) -> None:
        """Run one of the session's commands."""
        self.program.run_command(name)

    def action_cancel_command(self) -> None:
        """Cancel the command in progress."""
        self.program.cancel_command()

    def action_wait_longer(self) -> None:
        """Give the server that is being started more time."""
        self.program.wait_longer()

    def action_back(self) -> None:
        """Escape: out of the filter, out of a maximised panel, else cancel what is running."""
        if self.query_one(LogPanel).close_filter():
            return
        if self.maximised:
            self.action_maximise(self.maximised)
        elif self.program.facts().busy:
            self.program.cancel_command()

    def action_maximise(self, panel: str) -> None:
        """Give one panel all the room, or take it away again."""
        self.maximised = "" if self.maximised == panel else panel
        self.draw()

    def action_pause(self) -> None:
        """Freeze the screen, or show the newest at once."""
        self.frozen = None if self.frozen is not None else self.program.live
        self.draw()

    def resume(self) -> None:
        """Unfreeze the screen."""
        self.frozen = None

    def action_filter_log(self) -> None:
        """Filter the log."""
        if self.maximised not in {"", "log"}:
            self.action_maximise(self.maximised)
        self.query_one(LogPanel).open_filter()

    def action_timeline(self) -> None:
        """Show the timeline."""
        self.program.show_timeline()

    def action_help(self) -> None:
        """Show all keys."""
        self.program.show_help()


def _gpus_panel(snapshot: Snapshot, room: Space) -> Panel:
    return node_gpus_panel(snapshot.nodes, room) if snapshot.nodes else gpus_panel(snapshot.gpus, room)


def _framed(rows: int, frame_rows: int) -> int:
    return rows + frame_rows if rows else 0


def _click_action(action: str) -> str:
    return action if action.startswith("app.") else f"screen.{action}"

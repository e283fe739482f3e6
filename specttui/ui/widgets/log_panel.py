"""The server's log: the newest lines, written in batches, filtered by a text."""

from __future__ import annotations

from collections import deque

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input, Log

from specttui.state.snapshot import Snapshot
from specttui.ui.render.panel import Panel, Space
from specttui.ui.render.text import harmless
from specttui.ui.widgets.panel_view import PanelView

#: Lines kept for scrolling back and for filtering; older ones are dropped.
KEPT_LINES = 5000


class FollowingLog(Log):
    """A log that knows whether the user has scrolled away from its end."""

    following = True

    def release_anchor(self) -> None:
        """The user scrolls by key, wheel or scrollbar: stop following until the end is reached again."""
        super().release_anchor()
        self.following = False

    def follow(self) -> None:
        """Go on following where the end is in sight; go to the end where it is followed."""
        if self.is_vertical_scroll_end:
            self.following = True
        elif self.following:
            self.scroll_end(animate=False, immediate=True, x_axis=False)


class LogPanel(Vertical):
    """A heading, the lines, and a field for the filter's text.

    Lines are plain text from end to end. While the user has scrolled up, new lines do not move the view;
    the heading counts them.
    """

    class FilterClosed(Message):
        """The filter's field was left, with or without a text."""

    def __init__(self) -> None:
        super().__init__(id="log", classes="panel")
        self._kept: deque[str] = deque(maxlen=KEPT_LINES)
        self._seen_total = 0
        self._filter = ""
        self._behind = 0

    def compose(self) -> ComposeResult:
        """Heading, lines, filter."""
        yield PanelView("log-heading", framed=False)
        yield FollowingLog(max_lines=KEPT_LINES, auto_scroll=True, id="log-lines")
        yield Input(
            placeholder="show only lines with this text; empty shows all", id="log-filter", compact=True
        )

    @property
    def view(self) -> FollowingLog:
        """The lines' widget."""
        return self.query_one("#log-lines", FollowingLog)

    def show(self, snapshot: Snapshot, space: Space) -> None:
        """Take in what is new in a snapshot and write it in one go."""
        self.view.follow()
        self._append(self._new_lines(snapshot))
        self._show_heading(snapshot, space)

    def open_filter(self) -> None:
        """Show the filter's field and put the cursor into it."""
        self.add_class("-filtering")
        self.query_one("#log-filter", Input).focus()

    def close_filter(self) -> bool:
        """Clear the filter and hide its field; False when there was none."""
        if not self._filter and not self.has_class("-filtering"):
            return False
        self.remove_class("-filtering")
        self.query_one("#log-filter", Input).value = ""
        self._set_filter("")
        self.screen.set_focus(None)
        return True

    def on_resize(self) -> None:
        """Stay at the end when the room changes."""
        self.call_after_refresh(self.view.follow)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter while the user types."""
        event.stop()
        self._set_filter(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep the filter and leave the field."""
        event.stop()
        self.set_class(bool(self._filter), "-filtering")
        self.screen.set_focus(None)
        self.post_message(self.FilterClosed())

    def _new_lines(self, snapshot: Snapshot) -> list[str]:
        if snapshot.log_total < self._seen_total:
            self._restart()
        count = min(snapshot.log_total - self._seen_total, len(snapshot.log_lines))
        self._seen_total = snapshot.log_total
        return [harmless(text) for text in snapshot.log_lines[len(snapshot.log_lines) - count :]]

    def _restart(self) -> None:
        """Another log: a replay that jumped back, or a new session."""
        self._seen_total = 0
        self._kept.clear()
        self.view.clear()

    def _append(self, lines: list[str]) -> None:
        self._kept.extend(lines)
        shown = [text for text in lines if self._matches(text)]
        if not shown:
            return
        following = self.view.following
        self._behind = 0 if following else self._behind + len(shown)
        self.view.write("\n".join(shown) + "\n", scroll_end=following)

    def _matches(self, text: str) -> bool:
        return self._filter.lower() in text.lower()

    def _set_filter(self, text: str) -> None:
        if text == self._filter:
            return
        self._filter = text
        self._behind = 0
        self.view.clear()
        shown = [kept for kept in self._kept if self._matches(kept)]
        self.view.write("\n".join(shown) + "\n" if shown else "", scroll_end=True)

    def _show_heading(self, snapshot: Snapshot, space: Space) -> None:
        if self.view.following:
            self._behind = 0
        heading = Panel("LOG", self._caption(snapshot), ()).heading
        self.border_title = heading if space.framed else None
        self.query_one("#log-heading", PanelView).show_content(heading)

    def _caption(self, snapshot: Snapshot) -> str:
        if not snapshot.log_total:
            return "no lines yet"
        words = [f"{snapshot.log_total} lines"]
        if self._filter:
            words.append(f"only with '{self._filter}', escape shows all")
        if self._behind:
            words.append(f"+{self._behind} below, end returns")
        return ", ".join(words)

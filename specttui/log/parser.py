"""Bytes of a server's log to events, incrementally and whatever the chunking."""

from __future__ import annotations

from collections import deque

from specttui.events import Event, LogLines, LogNotice
from specttui.log.access import AccessCounter
from specttui.log.batches import decode_stats
from specttui.log.failures import FailureGatherer
from specttui.log.glue import unglue
from specttui.log.lines import MAX_LINE_BYTES, LineSplitter
from specttui.log.phases import StartupPosition
from specttui.log.prefix import Prefixed, split_prefix
from specttui.log.probe import PROBE_BYTES, embedded_probe_event, probe_event
from specttui.log.progress import is_bar, progress
from specttui.log.sglang import STOPPING, read_line
from specttui.log.text import for_view, to_text

#: Of more lines than this between two flushes only the last ones are shown: nobody can read a flood, and
#: drawing it would hold up the keys.
FLOOD_LINES = 1000
FLOOD_SHOWN = 50
#: How an access-log line of a request that went well ends.
_OK_END = b'HTTP/1.1" 200 OK'
_OK_LENGTH = len(_OK_END)
_PROBE_LENGTH = len(PROBE_BYTES)
#: The server's own log of requests holds the users' texts, which must never be read as figures.
_REQUEST_LOG = ("Receive: obj=", "Finish: obj=", "Receive OpenAI", "Receive openai", "Finish OpenAI")
_CUSTOM_FORMAT = (
    "Decode lines are in the log, but in a layout that a logging configuration made: no figures can be read. "
    "Start the server without SGLANG_LOGGING_CONFIG_PATH."
)


class LogParser:
    """Reads one log. `feed` returns figure events at once and in order; `flush` the rest.

    Args:
        max_lines: How many lines of text a flush returns at most; the newest are kept, the rest counted.
    """

    def __init__(self, max_lines: int = 500) -> None:
        self._splitter = LineSplitter()
        self._position = StartupPosition()
        self._failures = FailureGatherer(self._position)
        self._access = AccessCounter()
        self._view: deque[str] = deque(maxlen=max_lines)
        self._viewed = 0
        self._fed = False
        self._custom_format_told = False
        self._last_bar: tuple[str, int | None, int | None] | None = None

    def feed(self, data: bytes) -> list[Event]:
        """Take the next bytes, cut anywhere.

        Args:
            data: Bytes of the log.

        Returns:
            The events of the lines that are complete now. All of them, over a whole log, are the same
            for every chunking.
        """
        events: list[Event] = []
        ok = 0
        for line in self._splitter.feed(data):
            if line[-_OK_LENGTH:] == _OK_END and line.find(b"[", 1) < 0:
                ok += 1
            elif line[:_PROBE_LENGTH] == PROBE_BYTES and (event := probe_event(line)) is not None:
                events.append(event)
            elif line:
                self._line(line, events)
        self._access.ok += ok
        self._fed = self._fed or bool(data)
        return events

    def flush(self) -> list[Event]:
        """What is not urgent: lines for the log view, counts of requests. Call about twice a second.

        A failure that was complete before the last flush, and after which nothing came, is returned too.
        """
        events: list[Event] = [] if self._fed else list(self._failures.quiet())
        self._fed = False
        return events + self._pending()

    def cut(self) -> None:
        """The log was truncated or replaced: what has no line end yet will never get one, so it is text."""
        rest = to_text(self._splitter.finish())
        if rest:
            self._show(rest)

    def finish(self) -> list[Event]:
        """End of input. A last line without its end is text: half a figure would be a wrong figure."""
        self.cut()
        return [*self._failures.close(), *self._pending()]

    def _pending(self) -> list[Event]:
        events: list[Event] = []
        if self._viewed:
            lines = tuple(self._view)
            if self._viewed > FLOOD_LINES:
                lines = lines[-FLOOD_SHOWN:]
            events.append(LogLines(lines=lines, dropped=self._viewed - len(lines)))
            self._view.clear()
            self._viewed = 0
        http = self._access.flush()
        return events if http is None else [*events, http]

    def _show(self, text: str) -> None:
        self._viewed += 1
        self._view.append(for_view(text))

    def _line(self, raw: bytes, events: list[Event]) -> None:
        text = to_text(raw)
        if len(raw) >= MAX_LINE_BYTES:
            self._show(text)
            return
        pieces = unglue(text)
        passing = raw.endswith(b"\r")
        for number, piece in enumerate(pieces, start=1):
            if piece:
                self._piece(piece, events, passing=passing and number == len(pieces))

    def _piece(self, text: str, events: list[Event], *, passing: bool) -> None:
        line = split_prefix(text)
        if self._access.take(line.body):
            return
        if "[specttui] " in text and (event := embedded_probe_event(text)) is not None:
            events.append(event)
            return
        bar = is_bar(text) and not line.stamped
        if not (bar and passing):
            self._show(text)
        if bar:
            self._bar(line.body, events)
        elif not line.body.startswith(_REQUEST_LOG):
            self._figures(line, events)

    def _bar(self, body: str, events: list[Event]) -> None:
        step = progress(body, self._position)
        if step is None:
            return
        # tqdm repaints the same count with another label: one event per count is enough.
        seen = (step.phase, step.done, step.total)
        if seen != self._last_bar:
            self._last_bar = seen
            events.append(step)

    def _figures(self, line: Prefixed, events: list[Event]) -> None:
        if line.body.startswith("Decode batch"):
            decode = decode_stats(line)
            if decode is not None:
                if not self._failures.idle:
                    events += self._failures.line(line)
                self._position.ready = True
                events.append(decode)
                return
        found = read_line(line, self._position)
        if line.body.startswith("server_args=") and found:
            self._failures.new_start()
        elif line.body.startswith(STOPPING):
            self._failures.stopping()
        events += self._failures.line(line)
        events += found
        if not line.stamped and not self._custom_format_told:
            self._explain_layout(line.body, events)

    def _explain_layout(self, body: str, events: list[Event]) -> None:
        if "Decode batch" in body and "#running-req: " in body:
            self._custom_format_told = True
            events.append(LogNotice(what="custom_log_format", detail=_CUSTOM_FORMAT))

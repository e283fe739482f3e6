"""Failures in a log: one event per failure, told by its root cause and not by what follows from it."""

from __future__ import annotations

import re
from collections import deque

from specttui.events import FailureSeen
from specttui.log.diagnosis import from_line, from_traceback
from specttui.log.failure_rules import LINE_HINT, LINE_RULES, TRACEBACK_RULES, matching
from specttui.log.incident import Incident
from specttui.log.phases import StartupPosition
from specttui.log.prefix import Prefixed
from specttui.log.rank_chorus import RankChorus
from specttui.log.traceback_block import HEADER, TracebackBlock
from specttui.log.usage_block import UsageBlock

#: How many processes' tracebacks may be open at once, told apart by their `[rankN]:` prefix.
_MAX_BLOCKS = 32
#: Lines that tell a failure do so early.
_HINT_TEXT = 400
#: An exception line without its traceback, where the log's beginning was cut off.
_ORPHAN = re.compile(r"[\w.]{0,80}(?:OutOfMemoryError|DistBackendError|RuntimeError: Not enough memory)")


class FailureGatherer:
    """Gathers tracebacks, usage blocks and every rank's word on one hang into single events."""

    def __init__(self, position: StartupPosition) -> None:
        self._position = position
        self._blocks: dict[str, TracebackBlock] = {}
        self._usage: UsageBlock | None = None
        self._chorus: RankChorus | None = None
        self._incident = Incident()
        self._nccl_warnings: deque[str] = deque(maxlen=4)
        self._previous = ""

    @property
    def idle(self) -> bool:
        """True while nothing is being gathered."""
        return not (self._blocks or self._usage or self._chorus)

    def new_start(self) -> None:
        """Another server starts in this log: what failed before is over."""
        self._incident = Incident()

    def stopping(self) -> None:
        """The server was asked to stop: processes that die now are no failure."""
        self._incident.stopping = True

    def line(self, line: Prefixed) -> list[FailureSeen]:
        """Take the next line and return the failures that are complete with it."""
        found: list[FailureSeen] = []
        taken = (self._blocks or self._usage) and self._continue(line, found)
        if not taken:
            self._begin(line, found)
        self._previous = line.body
        return found

    def close(self) -> list[FailureSeen]:
        """End everything that is being gathered, at the end of input or of another reason to wait."""
        found: list[FailureSeen] = []
        self._close_blocks(found)
        self._usage = None
        self._end_chorus(found)
        return found

    def quiet(self) -> list[FailureSeen]:
        """Nothing came for a while: return what is complete, and go on waiting for the rest."""
        found: list[FailureSeen] = []
        if all(block.complete for block in self._blocks.values()):
            self._close_blocks(found)
        self._end_chorus(found)
        return found

    def _continue(self, line: Prefixed, found: list[FailureSeen]) -> bool:
        if self._usage is not None:
            outcome = self._usage.take(line.body) if not line.stamped else False
            if outcome is True:
                return True
            self._usage = None
            if outcome is not False:
                self._incident = Incident()
                self._admit(outcome, False, found)
                return True
        if line.stamped:
            self._close_blocks(found)
            return False
        block = self._blocks.get(line.rank)
        if block is None:
            return False
        rule = matching(LINE_RULES, line.body) if LINE_HINT.search(line.body[:_HINT_TEXT]) else None
        if (rule is None or not rule[0].consequence) and block.take(line.body):
            return True
        self._close_block(line.rank, found)
        return False

    def _begin(self, line: Prefixed, found: list[FailureSeen]) -> None:
        body = line.body
        if HEADER in body:
            self._open_block(line, found)
        elif body.startswith("usage: ") and not line.stamped:
            self._usage = UsageBlock()
            self._usage.take(body)
        elif "NCCL WARN" in body:
            self._nccl_warnings.append(body[:500])
        elif not (LINE_HINT.search(body[:_HINT_TEXT]) and self._single_line(line, found)):
            self._orphan(line)
        if self._chorus is not None and self._chorus.tired():
            self._end_chorus(found)

    def _open_block(self, line: Prefixed, found: list[FailureSeen]) -> None:
        self._end_chorus(found)
        key = "" if line.stamped else line.rank
        if key in self._blocks:
            self._close_block(key, found)
        if len(self._blocks) >= _MAX_BLOCKS:
            self._close_blocks(found)
        before = line.body[: line.body.index(HEADER)]
        scope = before or (self._previous if "Exception in" in self._previous else "")
        self._blocks[key] = TracebackBlock(scope, line.rank, line.stamp, self._position.phase(line.rank))

    def _single_line(self, line: Prefixed, found: list[FailureSeen]) -> bool:
        match = matching(LINE_RULES, line.body)
        if match is None:
            return False
        rule, groups = match
        failure = from_line(rule, groups, line)
        if not rule.per_rank:
            self._end_chorus(found)
            self._admit(failure, rule.consequence, found)
        elif self._chorus is not None and self._chorus.joins(failure):
            self._chorus.add(failure)
        else:
            self._end_chorus(found)
            self._chorus = RankChorus(rule, failure)
        return True

    def _orphan(self, line: Prefixed) -> None:
        if line.stamped or not _ORPHAN.match(line.body):
            return
        block = TracebackBlock("", line.rank, line.stamp, self._position.phase(line.rank))
        if matching(TRACEBACK_RULES, line.body) and block.take(line.body):
            self._blocks[line.rank] = block

    def _close_blocks(self, found: list[FailureSeen]) -> None:
        for key in list(self._blocks):
            self._close_block(key, found)

    def _close_block(self, key: str, found: list[FailureSeen]) -> None:
        block = self._blocks.pop(key)
        told = from_traceback(block, ready=self._position.ready, nccl_warnings=self._nccl_warnings)
        if told is not None:
            self._admit(told[0], told[1], found)

    def _end_chorus(self, found: list[FailureSeen]) -> None:
        chorus, self._chorus = self._chorus, None
        if chorus is not None:
            self._admit(chorus.failure(), chorus.rule.consequence, found)

    def _admit(self, failure: FailureSeen, consequence: bool, found: list[FailureSeen]) -> None:
        if self._incident.admits(failure, consequence=consequence):
            found.append(failure)

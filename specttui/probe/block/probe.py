"""The probe of one worker class: begins and ends cycles, reads them back late, and gives up on any error."""

from __future__ import annotations

from collections import deque
from time import perf_counter
from typing import Any, Deque, Dict, Optional

from specttui.probe.block.acceptance import _SpecttuiAcceptance
from specttui.probe.block.binding import _specttui_bind_copy, _SpecttuiBinding
from specttui.probe.block.clocks import _specttui_clock, _SpecttuiWallClock
from specttui.probe.block.control import _SpecttuiControl
from specttui.probe.block.cycle import _SpecttuiCycle
from specttui.probe.block.figures import _specttui_head, _specttui_line, _SpecttuiFigures
from specttui.probe.block.hooks import _specttui_around, _SpecttuiHooks
from specttui.probe.block.steps import (
    _specttui_wants_steps,
    _specttui_watch_captures,
    _SpecttuiDraftSteps,
)
from specttui.probe.block.words import (
    _SPECTTUI_BACKLOG,
    _SPECTTUI_BATCH,
    _SPECTTUI_CHECK_S,
    _SPECTTUI_LONGEST_REST,
    _SPECTTUI_OVERDUE_S,
    _SPECTTUI_OWN_SHARE,
    _SPECTTUI_PATIENCE,
    _SPECTTUI_PAUSE_S,
    _SPECTTUI_PENDING,
    _SPECTTUI_SUMMARY_S,
)
from specttui.probe.block.writer import _SpecttuiWriter


class _SpecttuiProbe:
    """Wraps the cycle method of a worker class and, from the first cycle on, the calls of one instance.

    `cycle` is the call that runs now, None outside of one: every hook then passes its call through. `dead`
    says that the probe gave up. `pending` are ended cycles whose times are still open, `settled` those that
    wait for their acceptance; `previous` is the last decode cycle, whose length the next start tells. `turn`
    counts decode cycles, to choose those whose parts are timed. `woke` is when the present stretch of timing
    began, and `own_s` what it has cost; until `rests_until` decode cycles are not timed.
    """

    def __init__(self, namespace: Dict[str, Any], settings: Dict[str, Any]) -> None:
        self.namespace = namespace
        self.settings = settings
        self.dead = False
        self.worker: Any = None
        self.cycle: Optional[_SpecttuiCycle] = None
        self.previous: Optional[_SpecttuiCycle] = None
        self.pending: Deque[_SpecttuiCycle] = deque()
        self.settled: Deque[_SpecttuiCycle] = deque()
        self.writer = _SpecttuiWriter()
        self.figures = _SpecttuiFigures(self.writer)
        self.control = _SpecttuiControl(settings["control"])
        self.acceptance = _SpecttuiAcceptance(tuple(settings["acceptance"]))
        self.hooks = _SpecttuiHooks()
        self.clock_name: str = settings["clock"]
        self.clock: Optional[_SpecttuiWallClock] = None
        self.verify_hooked = self.copy_bound = False
        self.writes_cycles = True
        self.steps_holder: Any = None
        self.turn = 0
        self.draft_steps = _SpecttuiDraftSteps() if _specttui_wants_steps(settings) else None
        self.next_check = self.next_write = 0.0
        self.rests_until = self.woke = self.own_s = 0.0

    def install(self) -> None:
        """Put the wrapper on the class; nothing else happens until its first cycle."""
        owner = self.namespace[self.settings["class"]]
        method = self.settings["method"]
        if self.draft_steps is not None:
            _specttui_watch_captures(self)
        self.hooks.put(owner, method, _specttui_around(self, getattr(owner, method)))

    def begin(self, worker: Any, args: Any, kwargs: Dict[str, Any]) -> Optional[_SpecttuiCycle]:
        """A call of the cycle method starts; None if it is not to be timed."""
        now = perf_counter()
        if self.worker is None:
            self.bind(worker)
        if now >= self.next_check:
            self.next_check = now + _SPECTTUI_CHECK_S
            self.follow(self.control.read())
        if self.cycle is not None or worker is not self.worker:
            return None
        batch = args[0] if args else kwargs.get("batch", kwargs.get("model_worker_batch"))
        size = _specttui_size(batch)
        clock = self.clock
        if clock is None or now < self.rests_until:
            decodes = size > 0 and not _specttui_prefills(batch)
            if decodes:
                self.leave_out(size)
            if decodes or clock is None:
                return None
        spare = self.figures.spare
        cycle = spare.pop() if spare else _SpecttuiCycle()
        if not size or not clock.open(cycle):
            spare.append(cycle)
            self.previous = None
            return None
        if self.draft_steps is not None and self.previous is not None:
            self.draft_steps.read(self.previous)
        cycle.start(now, clock, size)
        if self.turn % clock.parts_every:
            cycle.pass_parts_by()
        steps = getattr(self.steps_holder, "speculative_num_steps", None)  # adaptive speculation changes it
        cycle.steps = steps if isinstance(steps, int) else None
        tokens = getattr(batch, "extend_num_tokens", None)
        cycle.tokens = tokens if isinstance(tokens, int) else None
        cycle.decode = not self.verify_hooked and not _specttui_prefills(batch)
        self.cycle = cycle
        cycle.own_s = perf_counter() - now
        return cycle

    def leave_out(self, size: int) -> None:
        """A decode cycle is not timed: its counts, still to come, are not to be taken for a later one's."""
        self.previous = None
        if "callback" in self.acceptance.routes:
            self.acceptance.pass_by(size)

    def bind(self, worker: Any) -> None:
        """The first call: take the clock that is asked for, and hook this instance."""
        self.clock_name = self.control.read() or self.clock_name
        self.clock = _specttui_clock(self.clock_name)
        self.worker = worker
        _SpecttuiBinding(self).bind()

    def end(self, cycle: _SpecttuiCycle, result: Any) -> None:
        """The call returned; what takes time waits for a verify (`catch_up`), as long as one comes."""
        now = perf_counter()
        self.cycle = None
        if cycle.verify_start >= 0:
            cycle.end_verify(cycle.verify_end)
        if cycle.spans:
            self.link(cycle)
            if cycle.decode and cycle.counts is None:
                self.acceptance.expect(cycle, result)
                if not self.copy_bound:
                    _specttui_bind_copy(self, result)
            self.pending.append(cycle)
        else:
            cycle.clock.release(cycle)
            self.figures.put_back(cycle)
        late = len(self.pending) >= _SPECTTUI_BACKLOG and self.turn % _SPECTTUI_BATCH == 0
        if late or now >= self.next_write + _SPECTTUI_OVERDUE_S:
            self.work(now)
        cycle.own_s += perf_counter() - now

    def catch_up(self) -> bool:
        """Read back and write if enough has gathered; True if that took time."""
        if len(self.pending) < _SPECTTUI_BATCH:
            return False
        self.work(perf_counter())
        return True

    def work(self, now: float) -> None:
        """Read back what is done, and write a line if it is time or if it is full."""
        self.drain()
        if now >= self.next_write or self.figures.full():
            self.next_write = now + (_SPECTTUI_CHECK_S if self.writes_cycles else _SPECTTUI_SUMMARY_S)
            self.own_s += self.figures.own_s()
            if now >= self.woke + _SPECTTUI_CHECK_S:
                self.rest(now)
            self.write()

    def rest(self, now: float) -> None:
        """After a stretch of timing, rest for so long that what it cost is a small share of the time."""
        active_s = now - self.woke
        rest_s = 0.0
        if self.clock is not None and self.clock.rests:
            wanted_s = self.own_s / _SPECTTUI_OWN_SHARE - active_s
            rest_s = max(0.0, min(wanted_s, active_s * _SPECTTUI_LONGEST_REST))
        self.woke = self.rests_until = now + rest_s
        self.next_write += rest_s
        self.own_s = 0.0
        self.figures.timed_share = round(active_s / (active_s + rest_s), 3)

    def link(self, cycle: _SpecttuiCycle) -> None:
        """Tell the previous decode cycle where it ended, unless there was a pause or a prefill between."""
        previous = self.previous
        if not cycle.decode:
            self.previous = None
            return
        if (
            previous is not None
            and previous.clock is cycle.clock
            and cycle.started - previous.started < _SPECTTUI_PAUSE_S
        ):
            previous.successor = cycle
        self.previous = cycle
        self.turn += 1

    def drain(self) -> None:
        """Settle the cycles whose GPU work is done, in order, and pass on those that are complete."""
        pending = self.pending
        count = self.done()
        newest = pending[count - 1] if count else None
        for _ in range(count):
            head = pending[0]
            # A stream's work ends in order; what another clock or stream timed has to be asked for itself.
            alike = head.clock is newest.clock and head.stream is newest.stream  # type: ignore[union-attr]
            if not alike and not head.clock.ready(head):
                break
            self.settle(pending.popleft())
        while len(pending) > _SPECTTUI_PENDING:
            late = pending.popleft()
            self.acceptance.forget(late)
            late.clock.release(late)
            self.figures.put_back(late)
            self.figures.dropped_cycles += 1
        settled = self.settled
        while settled:
            head = settled[0]
            if head.copy is not None:
                self.acceptance.read_copy(head)
            if head.waiting:
                if len(settled) <= _SPECTTUI_PATIENCE:
                    break
                self.acceptance.forget(head)
            self.figures.add(settled.popleft())

    def done(self) -> int:
        """How many pending cycles are done, found from the newest back by steps that double."""
        pending = self.pending
        count = len(pending)
        if count and pending[-1] is self.previous:
            count -= 1  # its end is not known before the next start
        step = 1
        while count > 0 and not pending[count - 1].clock.ready(pending[count - 1]):
            count -= step
            step *= 2
        return max(count, 0)

    def settle(self, cycle: _SpecttuiCycle) -> None:
        """Read a cycle's marks and give them back."""
        cycle.settle()
        if self.draft_steps is not None and cycle.step_spans:
            self.draft_steps.add([cycle.between(start, end) for start, end in cycle.step_spans])
        cycle.clock.release(cycle)
        cycle.successor = None
        if cycle.decode:
            self.settled.append(cycle)
        else:
            self.figures.add(cycle)

    def write(self) -> None:
        """Write what is complete."""
        if self.draft_steps is not None:
            self.figures.step_ms = self.draft_steps.take()
        if self.writes_cycles:
            self.figures.write()
        else:
            self.figures.summarise()

    def follow(self, name: Optional[str]) -> None:
        """Take another clock if the control file asks for one, and say so."""
        if name is None or name == self.clock_name:
            return
        self.previous = None
        self.turn = 0
        self.drain()
        self.write()
        fields = _specttui_head("probe_clock", self.figures.rank)
        fields["clock"], fields["previous"] = name, self.clock_name
        self.writer.write_surely(_specttui_line(fields))
        self.clock_name = name
        self.clock = _specttui_clock(name)
        self.woke = self.rests_until = perf_counter()  # each clock makes up for its own cost alone
        self.own_s, self.figures.timed_share = 0.0, 1.0

    def fail(self, error: BaseException) -> None:
        """Give up: bring every original back, and say why in one line."""
        self.dead = True
        self.cycle = None
        self.hooks.restore_all()
        trace = error.__traceback__
        where = ""
        while trace is not None:
            where = trace.tb_frame.f_code.co_name + ", line " + str(trace.tb_lineno)
            trace = trace.tb_next
        fields = _specttui_head("probe_error", self.figures.rank)
        fields["message"] = (type(error).__name__ + ": " + str(error))[:500]
        fields["where"] = where
        self.writer.write_surely(_specttui_line(fields))


def _specttui_size(batch: Any) -> int:
    """How many requests a batch holds; reads a shape only, so nothing is synchronised."""
    requests = getattr(batch, "reqs", None)
    if requests:
        return len(requests)  # a list: its length costs less than a tensor's
    lengths = getattr(batch, "seq_lens", None)
    return len(lengths) if lengths is not None else 0


def _specttui_prefills(batch: Any) -> bool:
    """Whether a batch is a prefill, asked as the workers themselves ask."""
    return bool(batch.forward_mode.is_extend() or getattr(batch, "is_extend_in_batch", False))

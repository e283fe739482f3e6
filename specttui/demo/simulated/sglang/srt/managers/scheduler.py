"""The scheduler: takes requests, builds batches, calls the worker once per iteration, prints the lines."""

from __future__ import annotations

import logging
import os
import signal
import time
import traceback
from collections import deque
from multiprocessing.connection import Connection

from ...simulation.clock import Clock, PacedClock, sharpen_timers
from ...simulation.logs import configure_logging
from ...simulation.mailboxes import FollowerMailbox, LeaderMailbox
from ...simulation.messages import (
    AbortRequest,
    Mailbox,
    NewRequest,
    PipeMailbox,
    ResetAcceptance,
    SchedulerReady,
    TokensOut,
    ToScheduler,
)
from ...simulation.place import Place
from ...simulation.process_group import Alone, Follower, Leader, ProcessGroup, process_group
from ...simulation.setup import build_device, build_loader
from ..server_args import ServerArgs
from ..speculative.spec_info import create_worker
from .decode_stats import DecodeStats
from .schedule_batch import ForwardMode, GenerationBatchResult, Req, ScheduleBatch

logger = logging.getLogger(__name__)

_IDLE_WAIT_S = 1.0


class Scheduler:
    """Serves requests with one worker.

    With the overlapped worker a result is processed one iteration after its forward, as the real one does:
    so a request's end is noticed a cycle late.

    Args:
        server_args: The resolved arguments.
        mailbox: Where requests come from and tokens go.
        clock: Time, real or virtual.
        group: The ranks of the server, of which rank 0 prints the lines.
    """

    def __init__(self, server_args: ServerArgs, mailbox: Mailbox, clock: Clock, group: ProcessGroup) -> None:
        self.server_args = server_args
        self.speculative = server_args.speculative_algorithm is not None
        self.enable_overlap = self.speculative and not server_args.disable_overlap_schedule
        self._mailbox, self._clock = mailbox, clock
        self._speaks = group.place.rank == 0
        loader = build_loader(server_args, group)
        loader.load()
        device = build_device(server_args, clock, group.seed)
        self.worker = create_worker(server_args, device, group.place.rank)
        loader.finish()
        self.max_total_num_tokens = loader.max_total_num_tokens
        draft_tokens = server_args.speculative_num_draft_tokens if self.speculative else 1
        clock.catch_up()
        self.stats = DecodeStats(
            server_args.decode_log_interval, draft_tokens, loader.max_total_num_tokens, clock
        )
        self.waiting: deque[Req] = deque()
        self.running: list[Req] = []
        self._results: deque[tuple[ScheduleBatch, GenerationBatchResult]] = deque()
        self._last_prefill = clock.now()

    def run_forever(self) -> None:
        """The event loop."""
        while True:
            self.step()

    def step(self) -> None:
        """One iteration: receive, run one batch, process what is due."""
        self._receive()
        batch = self._next_batch()
        if batch is not None:
            self._results.append((batch, self.worker.forward_batch_generation(batch)))
        keep = 1 if self.enable_overlap and batch is not None else 0
        while len(self._results) > keep:
            self._process(*self._results.popleft())

    def _receive(self) -> None:
        busy = bool(self.waiting or self.running or self._results)
        for message in self._mailbox.receive(0.0 if busy else _IDLE_WAIT_S):
            self._handle(message)
        if not busy:
            self._clock.catch_up()

    def _handle(self, message: ToScheduler) -> None:
        if isinstance(message, NewRequest):
            self.waiting.append(
                Req(message.rid, message.prompt_tokens, message.max_new_tokens, message.stream)
            )
        elif isinstance(message, AbortRequest):
            self._abort(message.rid)
        elif isinstance(message, ResetAcceptance):
            self.stats.reset_acceptance()

    def _abort(self, rid: str) -> None:
        for req in (*self.waiting, *self.running):
            if req.rid == rid:
                req.aborted = True
        self.waiting = deque(req for req in self.waiting if not req.aborted)
        self.running = [req for req in self.running if not req.aborted]

    def _next_batch(self) -> ScheduleBatch | None:
        room = self.server_args.max_running_requests - len(self.running)
        if self.waiting and room > 0:
            reqs = [self.waiting.popleft() for _ in range(min(room, len(self.waiting)))]
            if self._speaks:
                self._log_prefill(reqs)
            # The batch joins at once: with overlap its first decode runs before its prefill is processed.
            self.running.extend(reqs)
            return ScheduleBatch(reqs, ForwardMode.EXTEND)
        if self.running:
            return ScheduleBatch(list(self.running), ForwardMode.DECODE)
        return None

    def _log_prefill(self, reqs: list[Req]) -> None:
        tokens = sum(req.prompt_tokens for req in reqs)
        elapsed = max(1e-6, self._clock.now() - self._last_prefill)
        self._last_prefill = self._clock.now()
        used = sum(req.seq_len for req in self.running) / self.max_total_num_tokens
        logger.info(
            "Prefill batch, #new-seq: %d, #new-token: %d, #cached-token: 0, token usage: %.2f, "
            "#running-req: %d, #queue-req: %d, #pending-token: 0, cuda graph: False, "
            "input throughput (token/s): %.2f",
            len(reqs), tokens, used, len(self.running), len(self.waiting), tokens / elapsed,
        )  # fmt: skip

    def _process(self, batch: ScheduleBatch, result: GenerationBatchResult) -> None:
        if batch.forward_mode.is_extend():
            self._process_prefill(batch)
        else:
            self._process_decode(batch, result)

    def _process_prefill(self, batch: ScheduleBatch) -> None:
        for req in batch.reqs:
            req.decode_began_at = time.monotonic()
            req.take(1)
            self._publish(req)
        self._drop_finished()

    def _process_decode(self, batch: ScheduleBatch, result: GenerationBatchResult) -> None:
        drafts = self._correct_drafts(batch, result)
        live = [index for index, req in enumerate(batch.reqs) if not req.finished]
        for index in live:
            req = batch.reqs[index]
            if drafts is None:
                req.take(1)
            else:
                req.take_verified(drafts[index])
            self._publish(req)
        tokens = len(live) + (sum(drafts[index] for index in live) if drafts is not None else 0)
        self.stats.add(tokens, len(live))
        if self._speaks and self.stats.window_full():
            self._mailbox.send(
                self.stats.print_line(batch.reqs, len(self.waiting), result.can_run_cuda_graph)
            )
        self._drop_finished()

    def _correct_drafts(self, batch: ScheduleBatch, result: GenerationBatchResult) -> list[int] | None:
        if result.accept_lens is None:
            return result.num_correct_drafts_per_req_cpu
        drafts = [length - 1 for length in result.accept_lens]
        self.worker.on_verify_complete_cpu(drafts, batch.batch_size())  # type: ignore[union-attr]
        return drafts

    def _publish(self, req: Req) -> None:
        if req.stream or req.finished:
            meta = meta_info(req, self.server_args) if req.finished else {}
            self._mailbox.send(TokensOut(req.rid, req.output_tokens, req.finished, meta))

    def _drop_finished(self) -> None:
        self.running = [req for req in self.running if not req.finished]


def meta_info(req: Req, server_args: ServerArgs) -> dict[str, object]:
    """What /generate reports about a finished request, under 0.5.12's names."""
    now = time.monotonic()
    decoding = now - (req.decode_began_at or req.arrived_at)
    meta: dict[str, object] = {
        "id": req.rid,
        "finish_reason": {"type": "length", "length": req.output_tokens},
        "prompt_tokens": req.prompt_tokens,
        "weight_version": "default",
        "total_retractions": 0,
        "completion_tokens": req.output_tokens,
        "cached_tokens": 0,
        "e2e_latency": now - req.arrived_at,
        "decode_throughput": (req.output_tokens - 1) / decoding if decoding > 0 else 0.0,
    }
    if req.verify_ct:
        proposed = req.verify_ct * (server_args.speculative_num_draft_tokens - 1)
        meta |= {
            "spec_accept_rate": req.correct_drafts / proposed,
            "spec_accept_length": req.output_tokens / req.verify_ct,
            "spec_verify_ct": req.verify_ct,
            "spec_num_correct_drafts": req.correct_drafts,
            "spec_num_proposed_drafts": proposed,
            "spec_accept_histogram": list(req.drafts_histogram),
            "spec_correct_drafts_histogram": list(req.drafts_histogram),
        }
    return meta


def run_scheduler_process(
    server_args: ServerArgs, place: Place, connection: Connection | None, seed: int | None
) -> None:
    """The body of a rank that works: load, report ready, serve; a failure kills the whole server.

    Args:
        server_args: The resolved arguments.
        place: Which rank this is.
        connection: Rank 0's pipe to the HTTP process.
        seed: Makes noise and acceptance repeatable.
    """
    parent = os.getppid()
    configure_logging(server_args.log_level, place.name)
    try:
        sharpen_timers()
        group = process_group(server_args, place, seed)
        mailbox = _mailbox(group, connection)
        scheduler = Scheduler(server_args, mailbox, PacedClock(), group)
        group.synchronize()
        mailbox.send(SchedulerReady(scheduler.max_total_num_tokens))
        scheduler.run_forever()
    except BaseException:
        logger.error("Scheduler hit an exception: %s", traceback.format_exc())  # noqa: TRY400
        os.kill(parent, signal.SIGQUIT)
        signal.pause()


def _mailbox(group: Alone | Leader | Follower, connection: Connection | None) -> Mailbox:
    if isinstance(group, Follower):
        return FollowerMailbox(group)
    assert connection is not None
    return LeaderMailbox(connection, group) if isinstance(group, Leader) else PipeMailbox(connection)

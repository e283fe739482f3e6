"""A scheduler of the demo without processes: virtual time, and requests that never end."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from specttui.demo.simulated.sglang.simulation.clock import VirtualClock
from specttui.demo.simulated.sglang.simulation.messages import NewRequest, TokensOut
from specttui.demo.simulated.sglang.simulation.process_group import Alone
from specttui.demo.simulated.sglang.srt.managers.scheduler import Scheduler
from specttui.demo.simulated.sglang.srt.server_args import ServerArgs, prepare_server_args

#: The decode line of SGLang 0.5.12, to the character.
DECODE = re.compile(
    r"Decode batch, #running-req: (?P<running>\d+), #token: (?P<tokens>\d+), token usage: \d\.\d\d, "
    r"(accept len: (?P<accept_len>\d+\.\d\d), accept rate: (?P<accept_rate>\d\.\d\d), )?"
    r"cuda graph: (True|False), gen throughput \(token/s\): (?P<tok_s>\d+\.\d\d), #queue-req: (?P<queue>\d+)"
)


class EndlessRequests:
    """A mailbox that keeps `concurrency` requests in the scheduler; collects what comes out."""

    def __init__(self, concurrency: int = 1, max_new_tokens: int = 512) -> None:
        self.sent: list[object] = []
        self._due, self._tokens = concurrency, max_new_tokens

    def receive(self, timeout_s: float) -> list[NewRequest]:
        requests = [NewRequest(f"r{len(self.sent)}-{n}", 128, self._tokens) for n in range(self._due)]
        self._due = 0
        return requests

    def send(self, message: object) -> None:
        self.sent.append(message)
        if isinstance(message, TokensOut) and message.finished:
            self._due += 1


class Models:
    """Model folders whose config.json files the simulated server reads."""

    def __init__(self, folder: Path, layer_ids: list[int] | None = None) -> None:
        self.target, self.draft = folder / "target", folder / "draft"
        for path in (self.target, self.draft):
            path.mkdir()
        (self.target / "config.json").write_text("{}")
        ids = [1, 29, 57] if layer_ids is None else layer_ids
        (self.draft / "config.json").write_text(
            json.dumps({"eagle_config": {"eagle_aux_hidden_state_layer_ids": ids}})
        )

    def args(self, steps: int = 0, *flags: str, tp: int = 8) -> ServerArgs:
        argv = ["--model-path", str(self.target), "--tp", str(tp)]
        if steps:
            argv += ["--speculative-algorithm", "EAGLE3", "--speculative-draft-model-path", str(self.draft)]
            argv += ["--speculative-num-steps", str(steps)]
            if "--speculative-eagle-topk" not in flags:
                argv += ["--speculative-eagle-topk", "1"]
        return prepare_server_args([*argv, *flags])


def run_scheduler(
    args: ServerArgs, steps: int, *, concurrency: int = 1, seed: int = 1
) -> tuple[Scheduler, EndlessRequests, VirtualClock]:
    """Run a scheduler for so many iterations in virtual time."""
    mailbox, clock = EndlessRequests(concurrency), VirtualClock()
    scheduler = Scheduler(args, mailbox, clock, Alone(seed))
    for _ in range(steps):
        scheduler.step()
    return scheduler, mailbox, clock


def decode_lines(caplog: pytest.LogCaptureFixture) -> list[re.Match[str]]:
    """All decode lines logged so far."""
    messages = [record.getMessage() for record in caplog.records]
    found = [DECODE.fullmatch(message) for message in messages if message.startswith("Decode batch")]
    assert all(found)
    return [match for match in found if match]

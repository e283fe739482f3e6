"""What the HTTP process and the scheduler process tell each other, over a pipe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import Connection
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class NewRequest:
    """A request to generate; `stream` asks for its tokens as they come."""

    rid: str
    prompt_tokens: int
    max_new_tokens: int
    stream: bool = False


@dataclass(frozen=True, slots=True)
class AbortRequest:
    """The client of a request is gone."""

    rid: str


@dataclass(frozen=True, slots=True)
class ResetAcceptance:
    """Start the cumulative acceptance anew: the cache was flushed."""


@dataclass(frozen=True, slots=True)
class TokensOut:
    """How far a request is; `meta` is its meta_info once it is finished."""

    rid: str
    output_tokens: int
    finished: bool
    meta: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SchedulerStats:
    """Figures that endpoints report, as of the last decode line."""

    last_gen_throughput: float = 0.0
    avg_spec_accept_length: float | None = None
    spec_accept_length: float = 0.0
    spec_accept_rate: float = 0.0
    running: int = 0
    queued: int = 0
    token_usage: float = 0.0


@dataclass(frozen=True, slots=True)
class SchedulerReady:
    """The scheduler is up."""

    max_total_num_tokens: int


ToScheduler = NewRequest | AbortRequest | ResetAcceptance
FromScheduler = TokensOut | SchedulerStats | SchedulerReady


_KINDS: dict[str, type[ToScheduler]] = {
    kind.__name__: kind for kind in (NewRequest, AbortRequest, ResetAcceptance)
}


def to_json(messages: Sequence[ToScheduler]) -> list[tuple[str, dict[str, Any]]]:
    """Messages as values that JSON can hold."""
    return [(type(message).__name__, asdict(message)) for message in messages]


def from_json(values: Sequence[tuple[str, dict[str, Any]]]) -> list[ToScheduler]:
    """What `to_json` was given."""
    return [_KINDS[kind](**fields) for kind, fields in values]


class Mailbox(Protocol):
    """The scheduler's end."""

    def receive(self, timeout_s: float) -> list[ToScheduler]:
        """What has come; waits up to `timeout_s` for the first message."""
        ...

    def send(self, message: FromScheduler) -> None:
        """Tell the HTTP process."""
        ...


class PipeMailbox:
    """A mailbox on one end of a multiprocessing pipe."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def receive(self, timeout_s: float) -> list[ToScheduler]:
        """What has come; waits up to `timeout_s` for the first message."""
        messages: list[ToScheduler] = []
        while self._connection.poll(0.0 if messages else timeout_s):
            messages.append(self._connection.recv())
        return messages

    def send(self, message: FromScheduler) -> None:
        """Tell the HTTP process."""
        self._connection.send(message)

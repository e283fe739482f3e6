"""The one door through which events become true: stamped, recorded, folded, announced."""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import copy
from typing import Protocol, cast

from specttui.events import EVENTS_VERSION, AnyEvent, Envelope, Event
from specttui.session.secret_keeper import SecretKeeper
from specttui.state.session_state import SessionState


class Sink(Protocol):
    """What keeps envelopes: a recording."""

    def append(self, envelope: Envelope) -> None:
        """Write one envelope so that a crash does not lose it."""
        ...


class Emitter:
    """Wraps events in envelopes and passes each, in order, to the recording, the state and the listeners.

    Args:
        state: What the envelopes of this host say.
        recording: Keeps every envelope; None where nothing is to be kept.
        host: The host's name in the envelopes.
        fold: Takes every envelope; by default the state itself.
        wall_clock: Seconds since 1970 UTC.
        monotonic: Seconds that never jump.
    """

    def __init__(
        self,
        state: SessionState,
        recording: Sink | None = None,
        *,
        host: str = "",
        fold: Callable[[Envelope], None] | None = None,
        wall_clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.state = state
        self.recording = recording
        self.host = host
        self._fold = fold or state.apply
        self._wall_clock = wall_clock
        self._monotonic = monotonic
        self._start = monotonic()
        self.secrets = SecretKeeper()
        self._listeners: list[Callable[[Envelope], None]] = []

    @property
    def offset_s(self) -> float:
        """Seconds since the session's start."""
        return self._monotonic() - self._start

    def beside(self, state: SessionState, host: str) -> Emitter:
        """An emitter for another host of the same session: the same recording, fold, clock and listeners.

        Args:
            state: What that host's envelopes say.
            host: Its name.
        """
        other = copy(self)
        other.state, other.host = state, host
        return other

    def listen(self, listener: Callable[[Envelope], None]) -> None:
        """Call `listener` with every envelope from now on, after the state has taken it."""
        self._listeners.append(listener)

    def emit(self, event: Event) -> None:
        """Make one event true, without the secrets that are known by now."""
        envelope = Envelope.model_construct(
            v=EVENTS_VERSION,
            at=self._wall_clock(),
            offset_s=self.offset_s,
            host=self.host,
            event=cast("AnyEvent", self.secrets.without(event)),
        )
        if self.recording is not None:
            self.recording.append(envelope)
        self._fold(envelope)
        for listener in self._listeners:
            listener(envelope)

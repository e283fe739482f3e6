"""The secrets of the launches that a session has seen, taken out of every event before it becomes true."""

from __future__ import annotations

from typing import Any

from specttui import events as ev
from specttui.events import Event, Launch
from specttui.launch.redact import secret_values
from specttui.launch.secret_shapes import HIDDEN

#: These hold figures alone, and come by the thousand.
_FIGURES = (
    ev.ProbeCycles,
    ev.ProbePrefill,
    ev.ProbeSummary,
    ev.DecodeStats,
    ev.PrefillStats,
    ev.HttpSeen,
    ev.GpuSampled,
)


class SecretKeeper:
    """Knows API keys, tokens and passwords by value, for texts that repeat them without saying so."""

    def __init__(self) -> None:
        self._values: tuple[str, ...] = ()

    def learn(self, launch: Launch) -> None:
        """Hide the secrets of this launch, too, from now on.

        Args:
            launch: The full launch.
        """
        # The longest first: one may be a part of another.
        known = {*self._values, *secret_values(launch)}
        self._values = tuple(sorted(known, key=len, reverse=True))

    def without(self, event: Event) -> Event:
        """The event with every known secret blanked out; itself where it holds none."""
        if not self._values or isinstance(event, _FIGURES):
            return event
        told = event.model_dump()
        hidden = self._hidden(told)
        return event if hidden == told else type(event).model_validate(hidden)

    def _hidden(self, value: Any) -> Any:  # noqa: ANN401 - whatever an event may hold
        if isinstance(value, str):
            for secret in self._values:
                value = value.replace(secret, HIDDEN)
            return value
        if isinstance(value, dict):
            return {key: self._hidden(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self._hidden(each) for each in value)
        return value

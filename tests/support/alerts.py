"""The alerts of a test's own session."""

from collections.abc import Iterable

from specttui.events import Alert, Event

#: Tests run side by side on one machine: a look at it may find what another test's servers just left.
_OF_OTHERS = ("Workers without a launcher hold GPU memory", "A server could not be looked at")


def own_alerts(events: Iterable[Event]) -> list[str]:
    """What alerts among events say, in order, without those about other tests' processes."""
    alerts = (event.message for event in events if isinstance(event, Alert))
    return [message for message in alerts if not message.startswith(_OF_OTHERS)]

"""The draft model's config.json: what in it decides on acceptance, and whether an edit of it is sound. Pure.

An EAGLE-3 draft reads hidden states of some of the target's layers; `eagle_config` of its config.json names
them (`eagle_aux_hidden_state_layer_ids`), DFlash's `dflash_config` as `target_layer_ids`. Other layers than
those it was trained on load without a word and ruin acceptance.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from specttui.errors import UsageError

_ENDING = "layer_ids"
MAX_BYTES = 1024 * 1024


def layer_ids(text: str) -> dict[str, tuple[int, ...]]:
    """The lists of layers in a configuration, by their place ("eagle_config.target_layer_ids").

    Args:
        text: The file's text; empty result when it is no JSON object.
    """
    try:
        parsed = json.loads(text)
    except ValueError:
        return {}
    return dict(_lists(parsed, ""))


def checked(text: str) -> bytes:
    """The bytes to write for an edited configuration.

    Args:
        text: The whole new text.

    Raises:
        UsageError: It is no JSON object, too big, or holds layers that are no layers.
    """
    data = text.encode()
    if len(data) > MAX_BYTES:
        raise UsageError(
            f"The configuration has {len(data)} bytes", remedy=f"A config.json has at most {MAX_BYTES}."
        )
    try:
        parsed = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise UsageError(
            f"Line {error.lineno}, column {error.colno}: {error.msg}", remedy="Write a JSON object."
        ) from error
    if not isinstance(parsed, dict):
        raise UsageError("The configuration is no JSON object", remedy="It begins with { and ends with }.")
    _check_layers(parsed, "")
    return data


def _refuse_constant(name: str) -> None:
    raise UsageError(f"{name} is no JSON", remedy="Write a number, or null.")


def _check_layers(value: object, place: str) -> None:
    if isinstance(value, list) and place.endswith(_ENDING):
        for layer in value:
            if not isinstance(layer, int) or isinstance(layer, bool) or layer < 0:
                raise UsageError(
                    f"{place}: {layer!r} is no layer", remedy="Layers are whole numbers from 0 on."
                )
    for name, inner in value.items() if isinstance(value, dict) else ():
        _check_layers(inner, f"{place}.{name}".lstrip("."))


def _lists(value: object, place: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    if isinstance(value, list) and place.endswith(_ENDING):
        yield place, tuple(layer for layer in value if isinstance(layer, int))
    for name, inner in value.items() if isinstance(value, dict) else ():
        yield from _lists(inner, f"{place}.{name}".lstrip("."))


def change_words(before: str, after: str) -> str:
    """What an edit changes, in words: its layers where they differ, else its size."""
    old, new = layer_ids(before), layer_ids(after)
    changes = [
        f"{place} {list(old.get(place, ()))} -> {list(new.get(place, ()))}"
        for place in dict.fromkeys((*old, *new))
        if old.get(place) != new.get(place)
    ]
    return "; ".join(changes) or f"{len(before.encode())} -> {len(after.encode())} bytes"

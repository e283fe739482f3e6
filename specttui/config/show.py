"""The settings in force as TOML: what `specttui config` prints."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from specttui.config.reader import Loaded

_BARE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
_SUDO = {"yes": True, "no": False}


def show(loaded: Loaded) -> str:
    """The file's place and every setting in force; what is printed can be read back as a settings file."""
    where = str(loaded.path) if loaded.exists else f"{loaded.path} is not there: these are the defaults."
    return "\n".join([f"# {where}", *_table(as_data(loaded), ())])


def as_data(loaded: Loaded) -> dict[str, Any]:
    """The settings as plain data, in the words of the file; what is not set is left out."""
    data = loaded.settings.model_dump(mode="json", by_alias=True, exclude_none=False)
    for preset in data["presets"]:
        preset["flags"] = {name: True if value is None else value for name, value in preset["flags"].items()}
    for profile in data["hosts"].values():
        profile["sudo"] = _SUDO.get(profile["sudo"], profile["sudo"])
    return data


def _table(data: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    """A table's own keys, then the tables below it, as TOML wants them."""
    below: list[tuple[str, Any]] = []
    for key, value in data.items():
        if _is_table(value, path) or _is_tables(value):
            below.append((key, value))
        elif value is not None:
            yield f"{_key(key)} = {_value(value)}"
    for key, value in below:
        inner = (*path, key)
        name = ".".join(_key(part) for part in inner)
        if isinstance(value, list):
            for item in value:
                yield from ("", f"[[{name}]]", *_table(item, inner))
        else:
            heading = [] if inner == ("hosts",) else ["", f"[{name}]"]
            yield from (*heading, *_table(value, inner))


def _is_table(value: object, path: tuple[str, ...]) -> bool:
    """Small tables of plain values within a list's item are written on one line."""
    return isinstance(value, dict) and not path[:1] in {("presets",), ("targets",)}


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def _value(value: object) -> str:
    if isinstance(value, dict):
        inside = ", ".join(f"{_key(key)} = {_value(each)}" for key, each in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list):
        return f"[{', '.join(_value(each) for each in value)}]"
    # TOML's basic strings, numbers and truth values are written as JSON's; DEL alone must be escaped, too.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(key: str) -> str:
    return key if key and set(key) <= _BARE else _value(key)

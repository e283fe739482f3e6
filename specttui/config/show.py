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
    return "\n".join([f"# {where}", *_tables(as_data(loaded))])


def as_data(loaded: Loaded) -> dict[str, Any]:
    """The settings as plain data, in the words of the file; what is not set is left out."""
    settings = loaded.settings
    hosts = {name: settings.profile(name) for name in settings.hosts}
    data = settings.model_copy(update={"hosts": hosts}).model_dump(mode="json", by_alias=True)
    for preset in data["presets"]:
        preset["flags"] = {name: True if value is None else value for name, value in preset["flags"].items()}
    for profile in data["hosts"].values():
        profile["sudo"] = _SUDO.get(profile["sudo"], profile["sudo"])
        profile["commands"] = {name: words for name, words in profile["commands"].items() if words}
    return data


def _tables(data: Mapping[str, Any]) -> Iterator[str]:
    """The file: plain keys first, then the tables, as TOML wants them."""
    named, lists = ("hosts", "servers"), ("presets", "targets")
    plain = {key: value for key, value in data.items() if key not in {"keymap", *named, *lists}}
    yield from _lines(plain)
    if data["keymap"]:
        yield from ("", "[keymap]", *_lines(data["keymap"]))
    for name in lists:
        for item in data[name]:
            yield from ("", f"[[{name}]]", *_lines(item))
    for table in named:
        for name, entry in data[table].items():
            yield from ("", f"[{table}.{_key(name)}]", *_lines(entry))


def _lines(table: Mapping[str, Any]) -> Iterator[str]:
    return (f"{_key(key)} = {_value(value)}" for key, value in table.items() if value is not None)


def _value(value: object) -> str:
    if isinstance(value, dict):
        inside = ", ".join(_lines(value))
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list):
        return f"[{', '.join(_value(each) for each in value)}]"
    # TOML's basic strings, numbers and truth values are written as JSON's; DEL alone must be escaped, too.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(key: str) -> str:
    return key if key and set(key) <= _BARE else _value(key)

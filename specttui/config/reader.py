"""Finding and reading the settings file; what is wrong in it is named by file, key and nearest valid key."""

from __future__ import annotations

import difflib
import json
import os
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs
from pydantic import BaseModel, ValidationError

from specttui.config.model import Commands, HostProfile, PresetTable, ServerTable, Settings, TargetTable
from specttui.errors import ConfigError
from specttui.events import Phase

#: The variable that replaces the platform's place of the file.
CONFIG_VARIABLE = "SPECTTUI_CONFIG"

_TABLES: dict[str, type[BaseModel]] = {
    "hosts": HostProfile,
    "servers": ServerTable,
    "presets": PresetTable,
    "targets": TargetTable,
}


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings in force, the file's place, and whether there is one."""

    settings: Settings
    path: Path
    exists: bool


def settings_path(environ: Mapping[str, str] | None = None) -> Path:
    """Where the settings file is: `$SPECTTUI_CONFIG`, else `config.toml` in the platform's folder."""
    named = (os.environ if environ is None else environ).get(CONFIG_VARIABLE, "")
    folder = Path(platformdirs.user_config_path("specttui", appauthor=False))
    return Path(named).expanduser() if named else folder / "config.toml"


def load(environ: Mapping[str, str] | None = None) -> Loaded:
    """Read the settings; without a file, everything has its default.

    Args:
        environ: The environment to look in; the process's own by default.

    Raises:
        ConfigError: The file cannot be read or used; names the file and the key.
    """
    variables = os.environ if environ is None else environ
    path = settings_path(variables)
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        if variables.get(CONFIG_VARIABLE):
            raise ConfigError(
                f"The settings file {path} does not exist",
                cause=f"{CONFIG_VARIABLE} names it.",
                remedy=f"Write it, or unset {CONFIG_VARIABLE}.",
            ) from None
        return Loaded(Settings(), path, exists=False)
    except (OSError, UnicodeDecodeError) as error:
        raise _unusable(path, str(error), "Check the file.") from error
    return Loaded(parse(text, path), path, exists=True)


def parse(text: str, path: Path) -> Settings:
    """Read a settings file's text.

    Args:
        text: TOML.
        path: Where it came from, for messages.

    Raises:
        ConfigError: It is no TOML, or a key or value cannot be used.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _unusable(path, f"{error}.", "Correct the line; the format is TOML.") from error
    try:
        # JSON's lists may become tuples and its words enumerations, and still nothing is converted.
        return Settings.model_validate_json(json.dumps(data, default=str), strict=True)
    except ValidationError as error:
        raise _refused(path, error) from error


def nearest(word: str, valid: Collection[str]) -> str:
    """The valid word that is most like this one."""
    return max(valid, key=lambda each: difflib.SequenceMatcher(None, word.lower(), each.lower()).ratio())


def unknown_key(path: Path, key: str, valid: Collection[str]) -> ConfigError:
    """The refusal of a key.

    Args:
        path: The file.
        key: The key with its tables, separated by dots.
        valid: What is valid in its place.
    """
    best = nearest(key.rpartition(".")[2], valid)
    remedy = f"Did you mean {best}? Valid here: {', '.join(sorted(valid))}."
    return _unusable(path, f"{key} is not a setting.", remedy)


def _refused(path: Path, error: ValidationError) -> ConfigError:
    # A misspelt key is what makes another one missing, so it comes first.
    found = sorted(error.errors(include_url=False), key=lambda each: each["type"] != "extra_forbidden")
    first, *others = found
    place, key = first["loc"], _written(first["loc"])
    if first["type"] == "extra_forbidden":
        return unknown_key(path, key, _valid_keys(place[:-1]))
    if first["type"] == "enum":
        return unknown_key(path, key, [phase.value for phase in Phase if phase is not Phase.OTHER])
    if first["type"] == "missing":
        return _unusable(path, f"{key} is missing.", "Write it.")
    said = str(first["msg"]).removeprefix("Value error, ").replace("Input should be", "it must be")
    cause = f"{key}: {said}, not {_shown(first['input'])}."
    if others:
        cause += f" So many other values cannot be used: {len(others)}."
    return _unusable(path, cause, "Correct the value; docs/configuration.md has every setting.")


def _written(place: Sequence[int | str]) -> str:
    """A place as the user knows it: `presets[2].flags`, items counted from 1."""
    text = ""
    for part in place:
        if isinstance(part, int):
            text += f"[{part + 1}]"
        elif part != "[key]":
            text += f".{part}" if text else part
    return text


def _valid_keys(table: Sequence[int | str]) -> list[str]:
    """The keys of the table at a place."""
    model = _TABLES.get(str(table[0]), Settings) if table else Settings
    if table[2:] == ("commands",):
        model = Commands
    return [field.alias or name for name, field in model.model_fields.items()]


def _shown(value: Any) -> str:  # noqa: ANN401 - whatever the file holds
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _unusable(path: Path, cause: str, remedy: str) -> ConfigError:
    return ConfigError(f"The settings file {path} cannot be used", cause=cause, remedy=remedy)

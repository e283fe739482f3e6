"""NCCL's variables: what a value means to NCCL, and whether it is worth a ten-minute restart.

Sources: NCCL's own parsers (`ncclGetLevel` in src/graph/paths.cc, `parseList` in the tuning code,
`ncclLoadParam` in src/misc/param.cc; read at 2.30) and NVIDIA's user guide on environment variables. NCCL is
lenient where it hurts: a level it does not know is ignored without a word, an integer with text in it is cut
off or read as 0, and an unknown protocol ends the start (2.24 and newer) or switches all protocols off.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from specttui.launch import nccl_names as names


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a variable's value; a `refuse` is certain to fail or to do nothing.

    `names` are the variables it is about, where a whole environment was checked.
    """

    severity: Literal["refuse", "warn"]
    text: str
    remedy: str = ""
    names: tuple[str, ...] = ()


def validate_env(name: str, value: str) -> list[Problem]:
    """Check one variable before it is used.

    Args:
        name: The variable; anything but NCCL's own passes.
        value: Its value as it would be set.

    Returns:
        Problems, the gravest first; empty when the value is sound.
    """
    if not name.startswith("NCCL_"):
        return []
    if not value:
        return [_warning(f"{name} is empty: NCCL takes its default", "unset it")]
    if name in names.LEVELS:
        return _level_problems(name, value)
    if name in names.LISTS:
        return _list_problems(name, value)
    if name in names.INTEGERS:
        return _integer_problems(name, value)
    if name in names.PATHS:
        return [_warning(f"{name} needs memory beyond the server's share and a file that exists on the host")]
    return _name_problems(name)


def validate_environment(env: Mapping[str, str]) -> list[Problem]:
    """Check all NCCL variables of an environment, those included that contradict each other."""
    found = [
        replace(problem, names=(name,))
        for name, value in env.items()
        for problem in validate_env(name, value)
    ]
    return [*found, *_contradictions(env)]


def _contradictions(env: Mapping[str, str]) -> list[Problem]:
    found = []
    least, most = (c_integer(env[name]) if name in env else None for name in names.CHANNEL_RANGE)
    if least is not None and most is not None and least > most:
        text = f"NCCL_MIN_NCHANNELS={least} is above NCCL_MAX_NCHANNELS={most}: the maximum caps it"
        found.append(Problem("warn", text, names=names.CHANNEL_RANGE))
    if c_integer(env.get("NCCL_P2P_DISABLE", "0")) == 1 and "NCCL_P2P_LEVEL" in env:
        text = "NCCL_P2P_DISABLE=1 makes NCCL_P2P_LEVEL void"
        found.append(Problem("warn", text, names=("NCCL_P2P_DISABLE", "NCCL_P2P_LEVEL")))
    return found


def env_meaning(name: str, value: str) -> str:
    """What NCCL makes of a value, for showing beside it ("4 = SYS"); "" when it reads as it stands."""
    if name in names.LEVELS:
        level = resolved_level(value)
        return f"{value} = {level}: {names.LEVEL_WORDS[level]}" if level else f"{value} is ignored"
    if name in names.INTEGERS and value != str(c_integer(value)):
        return f"{value} = {c_integer(value)}"
    if name in names.SWITCHES:
        return _switch_word(name, c_integer(value))
    if name in names.BYTES:
        return f"{c_integer(value) / 2**20:g} MiB"
    return ""


def resolved_level(value: str) -> str | None:
    """The path type NCCL reads from a level: a name as it stands, an old number by its table, else None.

    Old numbers: 0 LOC, 1 PIX, 2 PXB, 3 PHB, 4 and above SYS. Names are case-sensitive.
    """
    if value in names.LEVEL_WORDS:
        return value
    if value[:1].isascii() and value[:1].isdigit():
        return names.OLD_LEVELS[min(c_integer(value), len(names.OLD_LEVELS) - 1)]
    return None


def c_integer(text: str) -> int:
    """The integer that C's strtoll with base 0 reads from a text: a prefix of it, or 0."""
    found = re.match(r"\s*([+-]?)(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)", text)
    if not found:
        return 0
    digits = found[2]
    base = 16 if digits[:2] in {"0x", "0X"} else 8 if digits.startswith("0") else 10
    return int(digits, base) * (-1 if found[1] == "-" else 1)


def env_paths(env: Mapping[str, str]) -> dict[str, str]:
    """Variables that name a file NCCL reads, which must exist on the host before a restart."""
    return {name: env[name] for name in names.PATHS if env.get(name)}


def _switch_word(name: str, value: int) -> str:
    # NCCL compares P2P_DISABLE with exactly 1; other switches count any value but 0.
    on = value == 1 if name == "NCCL_P2P_DISABLE" else value != 0
    if name.endswith("_DISABLE"):
        return "disabled" if on else "not disabled"
    return "on" if on else "off"


def _level_problems(name: str, value: str) -> list[Problem]:
    if resolved_level(value) is None:
        guess = value.upper()
        hint = (
            f"write {guess}: names are case-sensitive"
            if guess in names.LEVEL_WORDS
            else "use " + _LEVEL_CHOICE
        )
        return [Problem("refuse", f"{name}={value} is ignored without a word: no such level", hint)]
    if value not in names.LEVEL_WORDS:
        meaning = env_meaning(name, value)
        return [_warning(f"{name}: {meaning}", f"write {resolved_level(value)}, which says what it means")]
    return []


_LEVEL_CHOICE = "LOC, NVL, PIX, PXB, PHB or SYS"


def _list_problems(name: str, value: str) -> list[Problem]:
    """Problems of a list: `[^]a,b` for all collectives, or `collective:[^]a,b` parts after semicolons."""
    known, found = names.LISTS[name], []
    for index, part in enumerate(value.split(";")):
        collective, colon, elements = part.partition(":") if ":" in part else ("", "", part)
        if colon and collective.lower() not in names.COLLECTIVES:
            found.append(_list_problem(name, f"{collective!r} is no collective", names.COLLECTIVES))
        if index and not colon:
            found.append(_list_problem(name, f"{part!r} lacks its collective", names.COLLECTIVES))
        tokens = [token for token in elements.removeprefix("^").split(",") if token]
        unknown = [token for token in tokens if token.lower() not in _lower(known)]
        found += [_list_problem(name, f"{token!r} is unknown", known) for token in unknown]
    if not found and name == "NCCL_ALGO" and not _leaves_ring(value):
        text = f"NCCL_ALGO={value} leaves collectives other than all-reduce no algorithm"
        found.append(_warning(text, f"write allreduce:{value}"))
    if not found and name == "NCCL_PROTO" and "ll128" in re.split(r"[,;:]", value.lower()):
        found.append(
            _warning(
                "LL128 may corrupt data on links that do not support it",
                "check the output once on PCIe hosts",
            )
        )
    return found


def _leaves_ring(value: str) -> bool:
    """True when Ring stays allowed for all collectives: only it does every one of them."""
    if ":" in value.split(";", maxsplit=1)[0]:
        return True
    elements = value.lower().removeprefix("^").split(",")
    return ("ring" in elements) != value.startswith("^")


def _list_problem(name: str, what: str, known: tuple[str, ...]) -> Problem:
    return Problem(
        "refuse",
        f"{name}: {what}: NCCL 2.24 and newer end the start, older ones drop it and find no protocol",
        "use " + ", ".join(known),
    )


def _lower(known: tuple[str, ...]) -> set[str]:
    return {each.lower() for each in known}


def _integer_problems(name: str, value: str) -> list[Problem]:
    number = c_integer(value)
    state = f": {_switch_word(name, number)}" if name in names.SWITCHES else ""
    if not re.fullmatch(r"-?(0|[1-9][0-9]*)", value):
        text = f"{name}={value} is read by NCCL as {number}{state}"
        return [Problem("refuse", text, "write a plain decimal number")]
    if name in names.SWITCHES and number not in {0, 1}:
        return [_warning(f"{name}={value}{state}", "write 0 or 1")]
    least, most = names.RANGES.get(name, (None, None))
    if least is not None and most is not None and not least <= number <= most:
        return [_warning(f"{name}={value} is outside {least} to {most}: NCCL caps or rejects it")]
    if name == "NCCL_NTHREADS" and number not in names.THREADS:
        return [_warning(f"NCCL_NTHREADS={value} is not one of 64, 128, 256, 512: NCCL takes another value")]
    return []


def _name_problems(name: str) -> list[Problem]:
    if name in names.OTHERS:
        return []
    close = difflib.get_close_matches(name, names.ALL, n=1, cutoff=0.85)
    text = f"{name} is no variable we know of: NCCL may ignore it"
    return [_warning(text, f"did you mean {close[0]}?")] if close else []


def _warning(text: str, remedy: str = "") -> Problem:
    return Problem("warn", text, remedy)

"""A server's command line as a value: find where SGLang's own arguments begin, read them, change them.

Reading and rendering are inverse: an unchanged command line renders to the very same argv.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from specttui.errors import LaunchError
from specttui.launch import flags

_MODULES = frozenset(
    {"sglang.launch_server", "sglang_router.launch_server", "dynamo.sglang", "sglang", "sglang.cli.main"}
)
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "fish", "csh", "tcsh", "ash", "busybox"})
_NUMBER = re.compile(r"-\d+$|-\d*\.\d+$")  # argparse's own idea of a negative number
_REMEDY = (
    "start the server as 'python -m sglang.launch_server ...' or 'sglang serve ...', "
    "or put its start command into the host profile"
)


@dataclass(frozen=True, slots=True)
class Option:
    """One flag with its values, or a positional argument (`name` is "").

    `name` is canonical; `tokens` are the argv elements exactly as written.
    """

    name: str
    tokens: tuple[str, ...]
    values: tuple[str, ...] = ()

    @property
    def value(self) -> str | None:
        """All values in one text, None for a flag without any."""
        return " ".join(self.values) if self.values else None


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A launch's argv in two parts: all up to the entry point, and SGLang's arguments.

    `serves` is True for `sglang serve`, where the model path may be positional.
    """

    prefix: tuple[str, ...]
    options: tuple[Option, ...]
    serves: bool = False

    @property
    def argv(self) -> tuple[str, ...]:
        """The whole command as argv."""
        return self.prefix + tuple(token for option in self.options for token in option.tokens)

    def find(self, name: str) -> Option | None:
        """The occurrence of a flag that counts, the last, or None."""
        wanted = flags.canonical(name)
        return next((option for option in reversed(self.options) if option.name == wanted), None)

    def has(self, name: str) -> bool:
        """True when the flag is given, in whatever spelling."""
        return self.find(name) is not None

    def value(self, name: str) -> str | None:
        """The value of a flag; None when it is absent or has none."""
        option = self.find(name)
        return option.value if option else None

    def without(self, condition: Callable[[str], bool]) -> CommandLine:
        """The same command without the flags whose canonical name meets a condition."""
        kept = tuple(option for option in self.options if not option.name or not condition(option.name))
        return replace(self, options=kept)

    def removed(self, name: str) -> CommandLine:
        """The same command without a flag, in all its spellings and repetitions."""
        wanted = flags.canonical(name)
        return self.without(lambda found: found == wanted)

    def with_flag(self, name: str, value: str | None) -> CommandLine:
        """The same command with a flag set: in place and in its old spelling, or else at the end.

        Earlier repetitions go: only the last counts, and leaving them would mislead the reader.

        Raises:
            LaunchError: The flag takes a value and none is given, or takes none and one is given.
        """
        self._check(name, value)
        old = self.find(name)
        if old is None:
            return self.with_option(_written(name, value, inline=False))
        new = _written(
            old.tokens[0].partition("=")[0], value, inline="=" in old.tokens[0] and len(old.tokens) == 1
        )
        options = [new if option is old else option for option in self.options]
        kept = tuple(option for option in options if option.name != old.name or option is new)
        return replace(self, options=kept)

    def with_option(self, option: Option) -> CommandLine:
        """The same command with one more option at the end, before a "--" that ends the flags."""
        end = next((i for i, found in enumerate(self.options) if found.tokens == ("--",)), len(self.options))
        return replace(self, options=(*self.options[:end], option, *self.options[end:]))

    @staticmethod
    def _check(name: str, value: str | None) -> None:
        if value is None and flags.needs_value(name):
            raise LaunchError(f"{name} needs a value", remedy=f"give one, or remove {name}")
        if value is not None and flags.is_switch(name):
            raise LaunchError(f"{name} takes no value", cause=f"got {value!r}", remedy="set it without one")


def parse(argv: Sequence[str]) -> CommandLine:
    """Read a server's argv.

    Args:
        argv: The command as the operating system has it, wrappers such as numactl included.

    Raises:
        LaunchError: It is a shell line, or no SGLang entry point is in it.
    """
    start, serves = _entry_point(argv)
    return CommandLine(tuple(argv[:start]), tuple(_options(argv[start:], serves)), serves)


def _entry_point(argv: Sequence[str]) -> tuple[int, bool]:
    """Where SGLang's own arguments begin, and whether this is `sglang serve`."""
    for index, word in enumerate(argv):
        following = argv[index + 1] if index + 1 < len(argv) else ""
        if word == "-m" and following in _MODULES:
            return _after_module(argv, index + 2, following)
        if word.startswith("-m") and word[2:] in _MODULES:
            return _after_module(argv, index + 1, word[2:])
        if PurePosixPath(word).name == "launch_server.py":
            return index + 1, False
        if PurePosixPath(word).name == "sglang" and following == "serve":
            return index + 2, True
    _refuse(argv)
    raise LaunchError("This command is no SGLang server", cause=" ".join(argv)[:200], remedy=_REMEDY)


def _after_module(argv: Sequence[str], start: int, module: str) -> tuple[int, bool]:
    """Where the arguments of `python -m module` begin; the `sglang` module has commands of its own."""
    if module not in {"sglang", "sglang.cli.main"}:
        return start, False
    if start < len(argv) and argv[start] == "serve":
        return start + 1, True
    raise LaunchError(
        "This command is no SGLang server", cause=f"python -m {module} without 'serve'", remedy=_REMEDY
    )


def _refuse(argv: Sequence[str]) -> None:
    """Raise when a shell runs the server: a shell line cannot be edited without guessing."""
    if any(PurePosixPath(token).name in _SHELLS for token in argv):
        raise LaunchError(
            "The server's command is a shell line or script",
            cause="flags inside a shell line or script cannot be changed safely: " + " ".join(argv)[:200],
            remedy=_REMEDY,
        )


def _options(arguments: Sequence[str], serves: bool) -> list[Option]:
    found: list[Option] = []
    index = 0
    while index < len(arguments):
        word = arguments[index]
        if word == "--":
            found += [Option("", (rest,), (rest,) if rest != "--" else ()) for rest in arguments[index:]]
            break
        flag = looks_like_flag(word)
        option = _option_at(arguments, index, serves) if flag else Option("", (word,), (word,))
        found.append(option)
        index += len(option.tokens)
    return found


def _option_at(arguments: Sequence[str], index: int, serves: bool) -> Option:
    name, equals, value = arguments[index].partition("=")
    if equals:
        return Option(flags.canonical(name), (arguments[index],), (value,))
    following = list(_values_after(arguments, index + 1))
    values = following[: _value_count(name, following, serves)]
    return Option(flags.canonical(name), (name, *values), tuple(values))


def _values_after(arguments: Sequence[str], index: int) -> list[str]:
    end = index
    while end < len(arguments) and not looks_like_flag(arguments[end]) and arguments[end] != "--":
        end += 1
    return list(arguments[index:end])


def _value_count(name: str, following: list[str], serves: bool) -> int:
    """How many of the tokens that follow are the flag's: only `sglang serve` has positional arguments."""
    if flags.is_switch(name):
        # A switch by its first word only: some release may have given it a true/false value.
        return 1 if following and following[0].lower() in {"true", "false"} else 0
    if flags.is_list(name) or not serves:
        return len(following)
    return 1


def looks_like_flag(token: str) -> bool:
    """True when argparse would take a token for a flag and not for a value."""
    return (
        len(token) > 1 and token[0] == "-" and not _NUMBER.match(token) and " " not in token.partition("=")[0]
    )


def _written(name: str, value: str | None, *, inline: bool) -> Option:
    """A flag as new tokens; a value that would be read as a flag takes the `=` form."""
    found = flags.canonical(name)
    if value is None:
        return Option(found, (name,))
    values = tuple(value.split()) if flags.is_list(found) else (value,)
    if len(values) == 1 and (inline or looks_like_flag(value)):
        return Option(found, (f"{name}={value}",), (value,))
    return Option(found, (name, *values), values)

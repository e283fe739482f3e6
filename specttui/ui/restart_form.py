"""The restart dialog's fields as edits: pure, so that every rule can be tested without a screen."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from specttui.errors import UsageError
from specttui.events import SpecSettings
from specttui.launch.edits import Baseline, Edit, Preset, RemoveFlag, SetEnv, SetFlag, UnsetEnv
from specttui.state.snapshot import Snapshot

STEPS_FLAG = "--speculative-num-steps"
TOPK_FLAG = "--speculative-eagle-topk"
DRAFT_TOKENS_FLAG = "--speculative-num-draft-tokens"

_VARIABLE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_FLAG = re.compile(r"(--[A-Za-z0-9][A-Za-z0-9_-]*)(?:[=\s]\s*(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class RestartForm:
    """What stands in the dialog's fields; numbers as typed."""

    steps: str = ""
    topk: str = ""
    draft_tokens: str = ""
    baseline: bool = False
    presets: tuple[Preset, ...] = ()
    free_text: str = ""

    @property
    def coupled_draft_tokens(self) -> str | None:
        """With top-k 1, draft tokens are steps + 1; None where they are free."""
        if self.topk.strip() not in {"1", ""}:
            return None
        return str(int(self.steps) + 1) if self.steps.strip().isdigit() else ""


def form_for(snapshot: Snapshot) -> RestartForm:
    """The form as the server runs now; of a baseline, with the settings of the last speculative run."""
    current = snapshot.settings
    settings = next(
        (
            run.settings
            for run in reversed(snapshot.runs)
            if not run.settings.is_baseline and current.is_baseline
        ),
        current,
    )
    return RestartForm(
        steps=_number(settings.num_steps),
        topk=_number(settings.eagle_topk),
        draft_tokens=_number(settings.num_draft_tokens),
        baseline=current.is_baseline,
    )


def _number(value: int | None) -> str:
    return "" if value is None else str(value)


def edits(form: RestartForm, current: SpecSettings) -> tuple[Edit, ...]:
    """The edits that a form asks for, against the settings that run now.

    Only what differs is edited; from a baseline back to speculation, everything that is filled in.

    Raises:
        UsageError: A field cannot be read; the title names it.
    """
    found: list[Edit] = []
    if form.baseline:
        found.extend([] if current.is_baseline else [Baseline()])
    else:
        found.extend(_numbers(form, current))
    for preset in form.presets:
        found.extend(preset.edits)
    return (*found, *parse_lines(form.free_text))


def _numbers(form: RestartForm, current: SpecSettings) -> list[Edit]:
    found: list[Edit] = []
    fields = [
        ("Steps", STEPS_FLAG, form.steps, current.num_steps),
        ("Top-k", TOPK_FLAG, form.topk, current.eagle_topk),
    ]
    if form.coupled_draft_tokens is None:
        fields.append(("Draft tokens", DRAFT_TOKENS_FLAG, form.draft_tokens, current.num_draft_tokens))
    for label, flag, text, now in fields:
        value = text.strip()
        if not value:
            continue
        if not value.isdigit() or int(value) < 1:
            raise UsageError(f"{label}: '{value}' is not a whole number from 1 on")
        if int(value) != now or current.is_baseline:
            found.append(SetFlag(flag, value))
    return found


def parse_lines(text: str) -> tuple[Edit, ...]:
    """Free edits, one a line.

    `--flag value`, `--flag=value` or `--flag` sets a flag; `NAME=value` sets a variable;
    `remove --flag` and `unset NAME` take them away. A value may be quoted as in a shell.

    Raises:
        UsageError: A line is none of these; the title names it.
    """
    return tuple(
        _edit(line.strip(), number) for number, line in enumerate(text.splitlines(), 1) if line.strip()
    )


def _edit(text: str, number: int) -> Edit:
    word, _, rest = text.partition(" ")
    if word == "remove" and (flag := _FLAG.fullmatch(rest.strip())) and flag[2] is None:
        return RemoveFlag(flag[1])
    if word == "unset" and _VARIABLE.fullmatch(f"{rest.strip()}="):
        return UnsetEnv(rest.strip())
    if flag := _FLAG.fullmatch(text):
        return SetFlag(flag[1], None if flag[2] is None else _unquoted(flag[2], number))
    if variable := _VARIABLE.fullmatch(text):
        return SetEnv(variable[1], _unquoted(variable[2], number))
    raise UsageError(
        f"Line {number}: '{text}' is no setting",
        remedy="Write --flag value, NAME=value, remove --flag, or unset NAME.",
    )


def _unquoted(value: str, number: int) -> str:
    """A value without the quotes around it; anything else is taken as it is."""
    value = value.strip()
    if value[:1] not in {"'", '"'}:
        return value
    try:
        words: Sequence[str] = shlex.split(value)
    except ValueError as error:
        raise UsageError(f"Line {number}: a quote is not closed") from error
    return words[0] if len(words) == 1 else value

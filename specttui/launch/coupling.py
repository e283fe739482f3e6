"""The rules that tie steps, top-k and draft tokens together, applied when one of them is changed.

SGLang's rules (0.4.5 to 0.5.23): with top-k 1 the draft tokens are forced to steps + 1; steps without top-k
and draft tokens (or these without steps) end the start with a bare error; with top-k > 1 the draft tokens,
the root included, are chosen among topk + (steps - 1) * topk^2 candidates.
"""

from __future__ import annotations

from collections.abc import Collection

from specttui.errors import LaunchError
from specttui.events import Launch, SpecSettings
from specttui.launch import flags
from specttui.launch.settings import Config, spec_settings

#: Draft tokens for top-k > 1 when none are given: SGLang's own default for trees.
_TREE_DRAFT_TOKENS = 8
_COUNTS = {flags.NUM_STEPS: 1, flags.EAGLE_TOPK: 1, flags.NUM_DRAFT_TOKENS: 2}


def max_draft_tokens(num_steps: int, eagle_topk: int) -> int:
    """The most draft tokens a tree of this shape has: 1 + k + (steps - 1) k^2, or steps + 1 with top-k 1."""
    return 1 + eagle_topk + (num_steps - 1) * eagle_topk**2


def check_count(name: str, value: str | None) -> None:
    """Refuse a step count, top-k or draft token count that no server accepts.

    Raises:
        LaunchError: It is not a whole number or too small.
    """
    least = _COUNTS.get(flags.canonical(name))
    if least is None or value is None:
        return
    if not value.isdecimal() or int(value) < least:
        raise LaunchError(
            f"{name} must be a whole number of at least {least}",
            cause=f"got {value!r}",
            remedy="choose baseline to switch speculation off" if value == "0" else f"give {least} or more",
        )


def coupled(settings: SpecSettings, edited: Collection[str]) -> dict[str, int]:
    """The counts that must change so that the settings fit together.

    Args:
        settings: The settings after the user's edits.
        edited: Canonical names of the flags the user edited.

    Returns:
        Flag -> value for what has to be set besides; empty when nothing has to, or when the edits do not
        concern the counts, or when the algorithm does not draft in steps.
    """
    if settings.algorithm not in flags.EAGLE_LIKE or not set(edited) & set(_COUNTS):
        return {}
    given = (settings.num_steps, settings.eagle_topk, settings.num_draft_tokens)
    if given == (None, None, None):
        return {}  # all three left to the server: it has defaults for each architecture
    topk, tokens = settings.eagle_topk or 1, settings.num_draft_tokens
    steps = _steps(settings.num_steps, topk, tokens, edited)
    wanted = (steps, topk, _tokens(steps, topk, tokens))
    names = (flags.NUM_STEPS, flags.EAGLE_TOPK, flags.NUM_DRAFT_TOKENS)
    return {name: new for name, old, new in zip(names, given, wanted, strict=True) if old != new}


def _steps(steps: int | None, topk: int, tokens: int | None, edited: Collection[str]) -> int:
    """The step count: as given; or, where only the draft tokens were edited, the one that fits them."""
    only_tokens = flags.NUM_DRAFT_TOKENS in edited and flags.NUM_STEPS not in edited
    if topk == 1 and tokens and (steps is None or only_tokens):
        return tokens - 1
    return steps or 3  # SGLang's own default since 0.5.8


def _tokens(steps: int, topk: int, tokens: int | None) -> int:
    if topk == 1:
        return steps + 1
    return min(tokens or _TREE_DRAFT_TOKENS, max_draft_tokens(steps, topk))


def coupling_notes(before: Launch, after: Launch, config: Config | None = None) -> tuple[str, ...]:
    """Which coupled rules show in a change, in words; empty when none does.

    Args:
        before: The launch before the edits.
        after: The launch that `apply` made of it.
        config: The values of its `--config` file.
    """
    old, new = spec_settings(before, config), spec_settings(after, config)
    if new.algorithm not in flags.EAGLE_LIKE or old == new:
        return ()
    notes = [_together_note(old, new), _tokens_note(old, new)]
    return tuple(note for note in notes if note)


def _together_note(old: SpecSettings, new: SpecSettings) -> str:
    if old.algorithm is None or old.eagle_topk is not None or new.eagle_topk is None:
        return ""
    return "steps, top-k and draft tokens are set together: SGLang refuses one without the others"


def _tokens_note(old: SpecSettings, new: SpecSettings) -> str:
    steps, topk, tokens = new.num_steps, new.eagle_topk, new.num_draft_tokens
    if steps is None or topk is None or tokens is None or old.num_draft_tokens == tokens:
        return ""
    if topk == 1:
        return f"draft tokens {tokens}: with top-k 1 they are steps + 1"
    if tokens == max_draft_tokens(steps, topk):
        return f"draft tokens {tokens}: the most a tree of {steps} steps with top-k {topk} has"
    return ""

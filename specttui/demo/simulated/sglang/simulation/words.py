"""Text for the simulated model to say: one word per token."""

from __future__ import annotations

from itertools import cycle, islice

_TEXT = (
    "a draft model guesses a few tokens ahead and the target model checks them all at once ; "
    "what it agrees with is kept and what it does not is thrown away so the answer stays the same "
    "and only its speed changes as long as a guess costs less than it saves ."
)


def words(count: int) -> str:
    """The first `count` tokens of the answer."""
    return " ".join(islice(cycle(_TEXT.split()), count))


def token_count(text: str) -> int:
    """About how many tokens a prompt has; at least one."""
    return max(1, len(text) // 4)

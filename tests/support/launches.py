"""Launches as hosts really have them."""

from __future__ import annotations

from specttui.events import Launch

EAGLE3_ARGV = (
    "python3 -m sglang.launch_server --model-path /models/K --tp 8 --speculative-algorithm EAGLE3 "
    "--speculative-draft-model-path /models/draft --speculative-num-steps 5 --speculative-eagle-topk 1 "
    "--speculative-num-draft-tokens 6 --trust-remote-code --port 30001"
)


def launch(command: str = EAGLE3_ARGV, **env: str) -> Launch:
    """A launch from a command with plain spaces, and variables."""
    return Launch(argv=tuple(command.split()), env=env)


def words(command: str) -> tuple[str, ...]:
    """An argv from a command with plain spaces."""
    return tuple(command.split())

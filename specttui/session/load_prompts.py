"""The prompts of the load driver: bundled natural text, or the user's own file.

Natural text, because random tokens cannot be drafted: on one machine acceptance was 52 % with text and
12 % with random tokens.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from pathlib import Path

from specttui.errors import UsageError

#: The name of the bundled set in events and reports; a changed set gets another name.
BUNDLED = "bundled"
#: A line of a plain text file that ends one prompt and begins the next.
SEPARATOR = "---"


@cache
def bundled_prompts() -> tuple[str, ...]:
    """Sixteen prompts of our own: prose, questions, code, data, dialogue; 15 to 370 words each."""
    text = resources.files("specttui.session").joinpath("prompts.jsonl").read_text("utf-8")
    return tuple(json.loads(line)["text"] for line in text.splitlines())


def read_prompts(path: Path) -> tuple[str, ...]:
    """Read the user's prompts.

    Args:
        path: A `.jsonl` file of strings or of objects with `text` or `prompt`, or a plain text file whose
            prompts are separated by lines of `---`.

    Raises:
        UsageError: The file cannot be read, has another shape, or holds no prompt.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The prompts in {path} cannot be read", cause=str(error)) from error
    prompts = _from_lines(path, text) if path.suffix == ".jsonl" else _from_plain(text)
    if not prompts:
        raise UsageError(
            f"{path} holds no prompts", remedy="Put one prompt in it, or several between lines of ---."
        )
    return prompts


def _from_plain(text: str) -> tuple[str, ...]:
    parts: list[list[str]] = [[]]
    for line in text.splitlines():
        if line.strip() == SEPARATOR:
            parts.append([])
        else:
            parts[-1].append(line)
    prompts = ("\n".join(part).strip() for part in parts)
    return tuple(prompt for prompt in prompts if prompt)


def _from_lines(path: Path, text: str) -> tuple[str, ...]:
    numbered = enumerate(text.splitlines(), start=1)
    return tuple(_from_json(path, number, line) for number, line in numbered if line.strip())


def _from_json(path: Path, number: int, line: str) -> str:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise UsageError(f"Line {number} of {path} is no JSON", cause=str(error)) from error
    found = record.get("text", record.get("prompt")) if isinstance(record, dict) else record
    if not isinstance(found, str) or not found.strip():
        raise UsageError(
            f"Line {number} of {path} holds no prompt",
            remedy='Each line is a string or an object with "text" or "prompt".',
        )
    return found

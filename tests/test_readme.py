"""The README's commands are the ones that work, and CI runs the very line it names for the tests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from specttui.cli import app
from specttui.ui.keys import KEYS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def shell_lines() -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", README, flags=re.DOTALL)
    return [line.split("#")[0].strip() for block in blocks for line in block.splitlines() if line.strip()]


def test_ci_runs_the_readmes_test_line() -> None:
    line = next(line for line in shell_lines() if "pytest" in line)
    assert line in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


def test_the_first_command_sets_up_and_starts_the_demo() -> None:
    first = shell_lines()[0]
    assert first.startswith("python3 -m venv .venv && ")
    assert first.endswith("specttui demo")


@pytest.mark.parametrize("line", [line for line in shell_lines() if line.startswith("specttui ")])
def test_every_command_is_one_that_the_program_has(line: str) -> None:
    app.parse_args(line.split()[1:], exit_on_error=False, print_error=False)


def test_every_picture_and_page_exists() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_every_key_of_the_table_is_bound() -> None:
    names = {"/": "slash", "?": "question_mark"}
    bound = {name for key in KEYS for name in key.keys.split(",")}
    rows = re.findall(r"^\| ((?:`[^`]+` ?)+)\|", README, flags=re.MULTILINE)
    keys = {key for row in rows for key in re.findall(r"`([^`]+)`", row)}
    assert len(keys) > 10
    assert not {key for key in keys if names.get(key, key) not in bound and key not in bound}

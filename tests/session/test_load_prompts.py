"""The bundled prompts are natural text; the user's files are read or refused clearly."""

from __future__ import annotations

import pytest

from specttui.errors import UsageError
from specttui.session.load_prompts import bundled_prompts, read_prompts


def test_sixteen_different_prompts_of_varied_length_are_bundled():
    prompts = bundled_prompts()
    lengths = sorted(len(prompt.split()) for prompt in prompts)
    assert (len(prompts), len(set(prompts))) == (16, 16)
    assert (lengths[0], lengths[-1]) == (15, 368)


def test_bundled_prompts_are_natural_text_not_random_tokens():
    common = {"the", "a", "of", "and", "to", "in", "is", "was", "on", "for", "with", "her", "their"}
    for prompt in bundled_prompts():
        words = [word.strip(".,:;?!\"'()").lower() for word in prompt.split()]
        assert any(word in common for word in words), prompt


def test_a_plain_file_is_split_at_rules(tmp_path):
    path = tmp_path / "prompts.txt"
    path.write_text("\nfirst\nstill first\n---\n\n---\nsecond: \u00fc\n--- not a rule\n")
    assert read_prompts(path) == ("first\nstill first", "second: \u00fc\n--- not a rule")


def test_json_lines_hold_strings_or_objects(tmp_path):
    path = tmp_path / "prompts.jsonl"
    path.write_text('"one"\n\n{"text": "two"}\n{"prompt": "three", "id": 3}\n')
    assert read_prompts(path) == ("one", "two", "three")


@pytest.mark.parametrize(
    ("name", "content", "title"),
    [
        ("p.txt", b"---\n\n---\n", "holds no prompts"),
        ("p.txt", b"\xff\xfe", "cannot be read"),
        ("p.jsonl", b"", "holds no prompts"),
        ("p.jsonl", b'"one"\n{oops\n', "Line 2 of .* is no JSON"),
        ("p.jsonl", b'{"question": "x"}\n', "Line 1 of .* holds no prompt"),
        ("p.jsonl", b"17\n", "Line 1 of .* holds no prompt"),
    ],
)
def test_unusable_files_are_refused_with_their_line(tmp_path, name, content, title):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UsageError, match=title):
        read_prompts(path)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        read_prompts(tmp_path / "none.txt")

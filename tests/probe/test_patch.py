"""Apply and remove: every original byte is kept, and what somebody else changed is seen."""

from __future__ import annotations

import ast
import re

import pytest
from support.fake_workers import EAGLE_V1, EAGLE_V2

from specttui.errors import PatchError
from specttui.events import Clock, FileState
from specttui.probe import apply, inspect, recover, remove
from specttui.probe.marker import digest

PLAIN = EAGLE_V1.encode()


def patched(source: bytes = PLAIN, **options: object) -> bytes:
    """The source with a block."""
    return apply(source, session_id="s1", utc="2026-11-29T10:00:00Z", **options)  # type: ignore[arg-type]


ODD_FILES = {
    "as it is": PLAIN,
    "no final newline": PLAIN.rstrip(b"\n"),
    "several final newlines": PLAIN + b"\n\n\n",
    "CRLF": PLAIN.replace(b"\n", b"\r\n"),
    "CRLF without a final one": PLAIN.replace(b"\n", b"\r\n").rstrip(b"\r\n"),
    "mixed line ends": PLAIN.replace(b"\n", b"\r\n", 5),
    "old Mac line ends": PLAIN.replace(b"\n", b"\r"),
    "byte order mark": b"\xef\xbb\xbf" + PLAIN,
    "declared latin-1": b"# -*- coding: latin-1 -*-\n# \xe9t\xe9\n" + PLAIN,
    "declared shift_jis": "# coding: shift_jis\n# 速度\n".encode("shift_jis") + PLAIN,
    "utf-8 text": "# Größe 速度 🚀\n".encode() + PLAIN,
    "future import": b'"""Doc."""\nfrom __future__ import annotations\n' + PLAIN,
    "tabs": PLAIN.replace(b"    ", b"\t"),
    "comment at the end": PLAIN + b"# the end",
    "form feed at the end": PLAIN + b"\x0c",
    "blanks at the end": PLAIN + b"    ",
    "string at the end": PLAIN + b'NOTE = """\n# >>> something else\n"""',
    "main guard at the end": PLAIN + b'if __name__ == "__main__":\n    raise SystemExit(1)',
    "decorated class at the end": PLAIN + b"class Last:\n    def method(self):\n        return 1",
}


@pytest.mark.parametrize("name", ODD_FILES)
def test_removal_gives_the_original_bytes(name: str) -> None:
    source = ODD_FILES[name]
    result = patched(source)
    assert result.startswith(source)
    assert remove(result) == source
    assert recover(result) == source
    compile(result, "worker.py", "exec")


@pytest.mark.parametrize("name", ODD_FILES)
def test_the_original_keeps_its_lines_and_meaning(name: str) -> None:
    source = ODD_FILES[name]
    before, after = ast.parse(source), ast.parse(patched(source))
    kept = after.body[: len(before.body)]
    assert [ast.dump(node, include_attributes=True) for node in kept] == [
        ast.dump(node, include_attributes=True) for node in before.body
    ]


@pytest.mark.parametrize("name", ODD_FILES)
def test_a_patched_file_is_recognised(name: str) -> None:
    source = ODD_FILES[name]
    inspection = inspect(patched(source, clock=Clock.WALL, control_path="/tmp/ünï control"))
    assert inspection.state is FileState.PATCHED
    marker = inspection.marker
    assert marker is not None
    assert (marker.sha256, marker.size) == (digest(source), len(source))
    assert (marker.session, marker.utc) == ("s1", "2026-11-29T10:00:00Z")
    assert (marker.clock, marker.control) == ("wall", "/tmp/ünï control")
    assert marker.worker == "EAGLEWorker"
    assert inspection.worker_class == "EAGLEWorker"  # as without the block
    assert not inspection.can_patch


def test_the_block_is_ascii_and_follows_the_files_line_ends() -> None:
    block = patched(control_path="/tmp/ünï 速度\udcff")[len(PLAIN) :]
    assert block.isascii()
    crlf = ODD_FILES["CRLF"]
    assert not re.search(rb"(?<!\r)\n", patched(crlf)[len(crlf) :])


def test_double_patch_is_refused() -> None:
    with pytest.raises(PatchError, match="patched already"):
        patched(patched())


def changed(kind: str) -> bytes:
    """A patched file after somebody else's edit."""
    result = patched()
    edits = {
        "original edited": result.replace(b"speculative_num_steps = 3", b"speculative_num_steps = 4"),
        "line added before": b"import os\n" + result,
        "line added after": result + b"print('mine')\n",
        "blank line after": result + b"\n",
        "block cut off": result[: len(result) - 200],
        "end line cut": result[: len(result) - 5],
        "first line edited": result.replace(b'"size": ', b'"size": 1'),
        "first line torn": result.replace(b'"sha256"', b'"sha'),
        "first line gone": result.replace(b"# >>> specttui probe", b"# >>> else"),
        "text between": result.replace(b"# >>> specttui", b"x = 1\n# >>> specttui"),
        "two blocks": result + result[len(PLAIN) :],
        "unknown field": result.replace(b'"size": ', b'"colour": 1, "size": '),
    }
    return edits[kind]


CHANGES = {
    "original edited": "the text before the block was changed",
    "line added before": "the text before the block was changed",
    "line added after": "there is text after the block",
    "blank line after": "there is text after the block",
    "block cut off": "the block is cut off",
    "end line cut": "the block is cut off",
    "first line edited": "the text before the block was changed",
    "first line torn": "the block's first line cannot be read",
    "first line gone": "the block's first line is gone",
    "text between": "the text before the block was changed",
    "two blocks": "it holds more than one block",
    "unknown field": "the block's first line cannot be read",
}


@pytest.mark.parametrize("kind", CHANGES)
def test_foreign_edits_are_detected_and_neither_patched_nor_removed(kind: str) -> None:
    source = changed(kind)
    inspection = inspect(source, path="worker.py")
    assert (inspection.state, inspection.reason) == (FileState.FOREIGN, CHANGES[kind])
    with pytest.raises(PatchError, match="changed after it was patched") as caught:
        remove(source)
    assert caught.value.cause == CHANGES[kind]
    with pytest.raises(PatchError, match="cannot be patched as it is"):
        patched(source)


@pytest.mark.parametrize(
    "kind", ["line added after", "blank line after", "block cut off", "end line cut", "two blocks"]
)
def test_a_proved_original_can_be_recovered(kind: str) -> None:
    assert recover(changed(kind)) == PLAIN


@pytest.mark.parametrize(
    "kind", ["original edited", "line added before", "first line torn", "first line gone"]
)
def test_what_is_not_proved_is_not_recovered(kind: str) -> None:
    assert recover(changed(kind)) is None


def test_there_is_nothing_to_remove_from_an_original() -> None:
    with pytest.raises(PatchError, match="holds no block"):
        remove(PLAIN)
    assert recover(PLAIN) is None


def test_text_that_only_looks_like_a_marker_is_left_alone() -> None:
    source = b"NOTE = '# >>> specttui probe'  # >>> specttui probe\n" + PLAIN
    assert inspect(source).state is FileState.ORIGINAL
    assert remove(patched(source)) == source


@pytest.mark.parametrize(
    ("source", "title"),
    [
        (b"def broken(:\n", "cannot be patched as it is"),
        (b"\x00\x01\x02", "cannot be patched as it is"),
        (b"", "holds no worker that we know"),
        (b"class SomethingWorker:\n    pass\n", "holds no worker that we know"),
    ],
)
def test_what_cannot_be_patched_is_said(source: bytes, title: str) -> None:
    with pytest.raises(PatchError, match=title) as caught:
        patched(source)
    assert caught.value.remedy


def test_a_cycle_inherited_from_another_file_names_that_file() -> None:
    source = (
        b"from sglang.srt.speculative.eagle_worker import EAGLEWorker\n"
        b"class StandaloneWorker(EAGLEWorker):\n    pass\n"
    )
    with pytest.raises(PatchError, match="no decode cycle of its own") as caught:
        patched(source)
    assert caught.value.remedy == "Patch the file of sglang.srt.speculative.eagle_worker."


def test_the_class_can_be_chosen() -> None:
    source = (EAGLE_V1 + "\n\n" + EAGLE_V2).encode()
    assert inspect(source).worker_class == "EAGLEWorker"
    result = patched(source, worker="EAGLEWorkerV2")
    marker = inspect(result).marker
    assert marker is not None
    assert marker.worker == "EAGLEWorkerV2"
    assert remove(result) == source

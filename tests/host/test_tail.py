# ruff: noqa: ASYNC110, ASYNC240 - the files and programs of a test are small and local
"""A followed file: nothing lost, nothing twice, whatever happens to it."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path

import pytest
from support.local_remote import LocalRemote
from support.tail_collector import following

from specttui.events import LogKind, LogSource
from specttui.host.remote_python import streaming_argv
from specttui.host.tail import Chunk, FromEnd, FromOffset, Notice, WholeFile, follow


@pytest.fixture
def remote(tmp_path: Path) -> LocalRemote:
    return LocalRemote(tmp_path)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "server.log"


def source(log: Path) -> LogSource:
    return LogSource(kind=LogKind.FILE, path=str(log))


def append(log: Path, data: bytes) -> None:
    with log.open("ab") as file:
        file.write(data)


async def test_from_end_starts_at_a_line_within_the_backlog(remote: LocalRemote, log: Path) -> None:
    log.write_bytes(b"".join(b"line %06d\n" % number for number in range(1000)))
    async with following(remote, source(log), FromEnd(30)) as tail:
        await tail.until_data(b"line 000999\n")
        assert tail.data == b"line 000998\nline 000999\n"
        first = tail.items[0]
        assert isinstance(first, Chunk)
        assert first.offset == 998 * 12
        append(log, b"new\n")
        await tail.until_data(b"new\n")
    assert tail.position.offset == 1000 * 12 + 4
    assert tail.notices == []


async def test_from_end_includes_a_line_that_starts_exactly_at_the_backlog(
    remote: LocalRemote, log: Path
) -> None:
    log.write_bytes(b"one\ntwo\nthree\n")
    async with following(remote, source(log), FromEnd(10)) as tail:
        await tail.until_data(b"three\n")
    assert tail.data == b"two\nthree\n"


async def test_a_started_server_begins_at_a_byte_of_a_file_that_has_content(
    remote: LocalRemote, log: Path
) -> None:
    earlier = b"of the server before\n" * 1000
    log.write_bytes(earlier + b"first of the new\n")
    async with following(remote, source(log), FromOffset(len(earlier))) as tail:
        await tail.until_data(b"first of the new\n")
        append(log, b"second\n")
        await tail.until_data(b"second\n")
    assert tail.data == b"first of the new\nsecond\n"
    first = tail.items[0]
    assert isinstance(first, Chunk)
    assert first.offset == len(earlier)
    assert tail.notices == []


async def test_lines_of_equal_ends_do_not_pass_for_the_same_text(remote: LocalRemote, log: Path) -> None:
    """Truncated and grown past the place between two looks, where the last bytes before it are alike."""
    ends = b" cuda graph: True, gen throughput (token/s): 200.00, #queue-req: 0\n"
    log.write_bytes(b"one " + ends)
    async with following(remote, source(log)) as tail:
        await tail.until_data(ends)
        log.write_bytes(b"two " + ends + b"three" + ends)
        await tail.until_data(b"three" + ends)
    assert tail.data == b"one " + ends + b"two " + ends + b"three" + ends


async def test_whole_file_and_any_bytes(remote: LocalRemote, log: Path) -> None:
    content = bytes(range(1, 256)) * 2000 + "Kernfusion ▇\r\x1b[31m".encode()
    log.write_bytes(content)
    async with following(remote, source(log), WholeFile()) as tail:
        await tail.until_data(content[-20:])
    assert tail.data == content


async def test_from_an_offset_as_a_started_server_has_it(remote: LocalRemote, log: Path) -> None:
    log.write_bytes(b"of the server before\nof this one\n")
    async with following(remote, source(log), FromOffset(21)) as tail:
        await tail.until_data(b"of this one\n")
    assert tail.data == b"of this one\n"


async def test_resumes_without_loss_or_repetition(remote: LocalRemote, log: Path) -> None:
    log.write_bytes(b"one\n")
    async with following(remote, source(log)) as tail:
        await tail.until_data(b"one\n")
    append(log, b"two\n")
    async with following(remote, source(log), tail.position) as again:
        await again.until_data(b"two\n")
        append(log, b"three\n")
        await again.until_data(b"three\n")
    assert again.data == b"two\nthree\n"
    assert again.notices == []


async def test_truncated_in_place_goes_on_from_the_beginning(remote: LocalRemote, log: Path) -> None:
    log.write_bytes(b"a long first line\n")
    async with following(remote, source(log)) as tail:
        await tail.until_data(b"first line\n")
        os.truncate(log, 0)
        await tail.until(lambda tail: tail.notices == ["truncated"])
        append(log, b"fresh\n")
        await tail.until_data(b"fresh\n")
    assert tail.data == b"a long first line\nfresh\n"


async def test_truncated_and_grown_past_the_place_between_two_looks(remote: LocalRemote, log: Path) -> None:
    log.write_bytes(b"old\n")
    async with following(remote, source(log)) as tail:
        await tail.until_data(b"old\n")
        log.write_bytes(b"new text, longer than the old\n")
        await tail.until_data(b"than the old\n")
    assert tail.data == b"old\nnew text, longer than the old\n"
    assert tail.notices == ["truncated"]


async def test_rewritten_with_the_same_size(remote: LocalRemote, log: Path) -> None:
    log.write_bytes(b"aaaa\n")
    async with following(remote, source(log)) as tail:
        await tail.until_data(b"aaaa\n")
        log.write_bytes(b"bbbb\n")
        await tail.until_data(b"bbbb\n")
    assert tail.data == b"aaaa\nbbbb\n"


async def test_truncated_while_disconnected(remote: LocalRemote, log: Path) -> None:
    log.write_bytes(b"before the cut\n")
    async with following(remote, source(log)) as tail:
        await tail.until_data(b"cut\n")
    log.write_bytes(b"short\n")
    async with following(remote, source(log), tail.position) as again:
        await again.until_data(b"short\n")
    assert again.data == b"short\n"
    assert again.notices == ["truncated"]


async def test_same_inode_regrown_past_the_place_while_disconnected(remote: LocalRemote, log: Path) -> None:
    log.write_bytes(b"before\n")
    inode = log.stat().st_ino
    async with following(remote, source(log)) as tail:
        await tail.until_data(b"before\n")
    log.write_bytes(b"a whole new text after copytruncate\n")
    assert log.stat().st_ino == inode
    async with following(remote, source(log), tail.position) as again:
        await again.until_data(b"copytruncate\n")
    assert again.data == b"a whole new text after copytruncate\n"
    assert again.notices == ["truncated"]


async def test_rotation_by_rename_reads_the_old_file_to_its_end(remote: LocalRemote, log: Path) -> None:
    log.write_bytes(b"one\n")
    async with following(remote, source(log)) as tail:
        await tail.until_data(b"one\n")
        rotated = log.rename(log.with_name("server.log.1"))
        append(rotated, b"last of the old\n")
        append(log, b"first of the new\n")
        await tail.until_data(b"first of the new\n")
    assert tail.data == b"one\nlast of the old\nfirst of the new\n"
    assert "rotated" in tail.notices


async def test_renamed_log_that_the_server_goes_on_writing_to(remote: LocalRemote, log: Path) -> None:
    log.write_bytes(b"one\n")
    async with following(remote, source(log)) as tail:
        await tail.until_data(b"one\n")
        rotated = log.rename(log.with_name("server.log.1"))
        log.touch()
        for text in (b"two\n", b"three\n"):
            append(rotated, text)
            await tail.until_data(text)
    assert tail.data == b"one\ntwo\nthree\n"


async def test_rotation_while_disconnected(remote: LocalRemote, log: Path) -> None:
    log.write_bytes(b"one\n")
    async with following(remote, source(log)) as tail:
        await tail.until_data(b"one\n")
    append(log, b"two\n")
    log.rename(log.with_name("server.log-20261129"))
    append(log, b"three\n")
    async with following(remote, source(log), tail.position) as again:
        await again.until_data(b"three\n")
    assert again.data == b"two\nthree\n"
    assert again.notices == ["rotated"]


async def test_replaced_while_disconnected_and_the_old_one_gone(remote: LocalRemote, log: Path) -> None:
    log.write_bytes(b"one\n")
    async with following(remote, source(log)) as tail:
        await tail.until_data(b"one\n")
    other = log.with_name("other")
    other.write_bytes(b"of another file\n")
    other.replace(log)
    async with following(remote, source(log), tail.position) as again:
        await again.until_data(b"of another file\n")
    assert again.data == b"of another file\n"
    assert again.notices == ["replaced"]


async def test_deleted_and_created_again(remote: LocalRemote, log: Path) -> None:
    log.write_bytes(b"one\n")
    async with following(remote, source(log)) as tail:
        await tail.until_data(b"one\n")
        log.unlink()
        await tail.until(lambda tail: tail.notices == ["vanished"])
        append(log, b"two\n")
        await tail.until_data(b"two\n")
    assert tail.data == b"one\ntwo\n"
    assert tail.notices == ["vanished", "rotated"]


async def test_waits_for_a_file_that_is_not_there_yet(remote: LocalRemote, log: Path) -> None:
    async with following(remote, source(log)) as tail:
        await tail.until(lambda tail: tail.notices == ["missing"])
        append(log, b"here\n")
        await tail.until_data(b"here\n")
    assert tail.notices == ["missing", "appeared"]


async def test_a_hole_of_gigabytes_is_stepped_over(remote: LocalRemote, log: Path) -> None:
    log.write_bytes(b"first\n")
    async with following(remote, source(log)) as tail:
        await tail.until_data(b"first\n")
        with log.open("r+b") as file:
            file.truncate(0)
            file.seek(3 * 1024**3)
            file.write(b"after the hole\n")
        await tail.until_data(b"after the hole\n")
    assert tail.data == b"first\nafter the hole\n"
    assert tail.notices == ["truncated", "hole"]
    assert tail.position.offset == 3 * 1024**3 + 15


async def test_attaching_to_gigabytes_transfers_the_backlog_only(remote: LocalRemote, log: Path) -> None:
    with log.open("wb") as file:
        file.truncate(5 * 1024**3)
        file.seek(0, os.SEEK_END)
        file.write(b"x" * 100 + b"\n" + b"y" * 1000 + b"\n")
    async with following(remote, source(log), FromEnd(1050)) as tail:
        await tail.until_data(b"y\n")
    assert tail.data == b"y" * 1000 + b"\n"


async def test_a_follow_process_that_ends_is_started_again_where_it_was(
    remote: LocalRemote, log: Path
) -> None:
    log.write_bytes(b"one\n")
    async with following(remote, source(log)) as tail:
        await tail.until_data(b"one\n")
        for pid in followers(log):
            os.kill(pid, 9)
        append(log, b"two\n")
        await tail.until_data(b"two\n")
    assert tail.data == b"one\ntwo\n"
    assert tail.notices == ["reopened"]


async def test_nothing_stays_on_the_host_after_the_connection_is_cut(remote: LocalRemote, log: Path) -> None:
    log.write_bytes(b"one\n")
    async with following(remote, source(log)) as tail:
        await tail.until_data(b"one\n")
        assert len(followers(log)) == 1
    async with asyncio.timeout(30):
        while followers(log):
            await asyncio.sleep(0.05)


async def test_a_log_that_cannot_be_followed_says_what_to_do(remote: LocalRemote) -> None:
    terminal = LogSource(kind=LogKind.TERMINAL, path="/dev/pts/3", detail="tmux")
    items = [item async for item in follow(remote, terminal)]
    assert items == [
        Notice(
            "cannot_follow",
            "Restart the server through specttui, which appends its output to a file; or run `tmux pipe-pane "
            "-o 'cat >> FILE'` in its pane and give FILE as the log.",
        )
    ]
    assert remote.commands == []


def followers(log: Path) -> list[int]:
    """The follow processes on the host for one log."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"-c" in words and b"python" in words[0] and str(log).encode() in words[-2]:
            found.append(int(entry.name))
    return found


def test_the_follow_process_ends_by_itself_when_its_reader_is_gone(log: Path) -> None:
    log.write_bytes(b"one\n")
    argv = streaming_argv(
        "follow_file",
        {"mark": "m", "path": str(log), "start": {"kind": "whole"}, "poll_s": 0.05, "most_bytes": 1000},
    )
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b"m {")
    process.stdout.close()
    assert process.wait(timeout=30) == 0

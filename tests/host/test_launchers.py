"""Which processes are launchers, over made-up process tables."""

from __future__ import annotations

import pytest

from specttui.host.remote_scripts.launchers import (
    Launcher,
    find,
    interpreter_options,
    is_launch_command,
    own_session,
)
from specttui.host.remote_scripts.procfs import Process, words


def process(pid: int, ppid: int, command: str, session: int = 0, comm: str = "") -> Process:
    argv = tuple(word.encode() for word in command.split(" "))
    return Process(pid, ppid, pid, session or pid, "S", pid * 10, comm or command[:15], argv)


def table(*processes: Process) -> dict[int, Process]:
    return {one.pid: one for one in processes}


SERVER = "python3 -m sglang.launch_server --model-path m"
INIT = process(1, 0, "/sbin/init", comm="systemd")


@pytest.mark.parametrize(
    "command",
    [
        SERVER,
        "/opt/venv/bin/python3.12 -u -m sglang.launch_server",
        "python -um sglang.launch_server",
        "python -msglang.launch_server",
        "python -X dev -W ignore -m sglang.launch_server",
        "python3 /opt/venv/bin/sglang serve --model-path m",
        "python -m sglang serve m",
        "python -m dynamo.sglang --model m",
        "python -m dynamo.sglang.worker",
        "python /root/sglang/python/sglang/launch_server.py",
    ],
)
def test_launch_commands(command: str) -> None:
    assert is_launch_command(command.split(" "))


@pytest.mark.parametrize(
    "command",
    [
        "bash -c python -m sglang.launch_server",
        "docker run image python3 -m sglang.launch_server",
        "ssh host python3 -m sglang.launch_server",
        "grep sglang.launch_server",
        "python -m sglang.bench_serving",
        "python -m sglang_router.launch_router",
        "python -c import sglang.launch_server",
        "python script.py -m sglang.launch_server",
        "python -m sglang generate",
        "vim launch_server.py",
        "",
    ],
)
def test_other_commands(command: str) -> None:
    assert not is_launch_command(command.split(" "))


def test_interpreter_options_are_kept_apart() -> None:
    assert interpreter_options(["python", "-I", "-X", "dev", "-um", "a", "-u"]) == (
        ["-I", "-X", "dev", "-u"],
        ["-m", "a", "-u"],
    )
    assert interpreter_options(["python", "-", "x"]) == ([], ["-", "x"])


def test_empty_words_of_a_command_line_are_kept() -> None:
    assert words(b"a\0\0b\0") == (b"a", b"", b"b")
    assert words(b"") == ()


def test_a_plain_server() -> None:
    found = find(
        table(
            INIT,
            process(10, 1, SERVER),
            process(11, 10, "sglang::scheduler"),
            process(12, 10, "sglang::detokenizer"),
        )
    )
    assert found == ([Launcher(10, "arguments")], [])


def test_two_servers() -> None:
    assert find(table(INIT, process(10, 1, SERVER), process(20, 1, SERVER + "2")))[0] == [
        Launcher(10, "arguments"),
        Launcher(20, "arguments"),
    ]


def test_of_wrappers_the_innermost_counts() -> None:
    runner = "python /opt/uv run python -m sglang.launch_server"
    inner = process(11, 10, SERVER)
    assert find(table(INIT, process(10, 1, runner), inner))[0] == [Launcher(11, "arguments")]
    outer = process(10, 1, "python -m sglang.launch_server --wrapped")
    assert find(table(INIT, outer, inner))[0] == [Launcher(11, "arguments")]


def test_of_a_fork_the_parent_counts() -> None:
    assert find(table(INIT, process(10, 1, SERVER), process(11, 10, SERVER)))[0] == [
        Launcher(10, "arguments")
    ]


def test_a_program_of_the_users_is_known_by_its_workers() -> None:
    found = find(
        table(INIT, process(10, 1, "python serve_mine.py"), process(11, 10, "sglang::scheduler_TP0"))
    )
    assert found == ([Launcher(10, "children")], [])


def test_workers_below_a_data_parallel_controller() -> None:
    controller = process(11, 10, "sglang::data_parallel_controller")
    worker = process(12, 11, "sglang::scheduler_DP0_TP0")
    found = find(table(INIT, process(10, 1, "python mine.py"), controller, worker))
    assert found == ([Launcher(10, "children")], [])


def test_the_one_release_that_titles_its_launcher() -> None:
    launcher = process(10, 1, "sglang::http_server/tokenizer_manager")
    assert find(table(INIT, launcher, process(11, 10, "sglang::scheduler"))) == ([Launcher(10, "title")], [])


def test_orphaned_workers() -> None:
    assert find(
        table(INIT, process(11, 1, "sglang::scheduler_TP0"), process(12, 1, "sglang::scheduler_TP1"))
    ) == (
        [],
        [11, 12],
    )


def test_a_server_that_is_the_containers_first_process() -> None:
    assert find(table(process(1, 0, SERVER), process(7, 1, "sglang::scheduler"))) == (
        [Launcher(1, "arguments")],
        [],
    )


def test_a_session_is_only_taken_when_it_holds_nothing_else() -> None:
    server = process(10, 1, SERVER)
    assert own_session(table(INIT, server), 10) == 10
    shell = process(5, 1, "bash", session=5)
    assert own_session(table(INIT, shell, process(10, 5, SERVER, session=5)), 10) == 0
    script = process(5, 1, "/bin/sh /root/.cache/specttui/launch-s1.sh", session=5)
    assert own_session(table(INIT, script, process(10, 5, SERVER, session=5)), 10) == 5

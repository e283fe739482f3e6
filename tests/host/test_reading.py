"""Facts into servers, where no process can show the case: other users, odd answers, read-only installs."""

from __future__ import annotations

import base64
import json
import zlib

from specttui.events import FileState, SpecSettings
from specttui.host.facts import AnswersAt, EndpointAnswer, PackageFacts, ServerFacts, WorkerFile
from specttui.host.found import FoundServer, Problem
from specttui.host.reading import found_server
from specttui.probe import inspect

ARGV = ("python3", "-m", "sglang.launch_server", "--model-path", "m", "--port", "31000", "--tp", "8")
FILE = WorkerFile(
    path="/s/srt/speculative/eagle_worker_v2.py",
    writable=True,
    content=base64.b64encode(zlib.compress(b"class X: pass\n")).decode(),
)
FACTS = ServerFacts(
    pid=5,
    start_ticks=1,
    argv=ARGV,
    user="root",
    package=PackageFacts(path="/s", version="0.5.12"),
    workers=(FILE,),
)


def read(**changes: object) -> FoundServer:
    return found_server(FACTS.model_copy(update=changes), "me", (), "/log", inspect)


def test_a_server_that_does_not_listen_yet_has_the_port_it_was_given() -> None:
    server = read()
    assert (server.port, server.serving, server.info.tensor_parallel) == (31000, False, 8)
    assert server.info.host == "127.0.0.1"


def test_an_address_that_means_all_is_reached_through_loopback() -> None:
    assert read(answers_at=AnswersAt(address="0.0.0.0", port=31000)).info.host == "127.0.0.1"
    assert read(answers_at=AnswersAt(address="::", port=31000)).info.host == "::1"
    assert read(answers_at=AnswersAt(address="10.0.0.5", port=31000)).info.host == "10.0.0.5"


def test_another_users_server_can_be_watched_but_not_restarted() -> None:
    server = read(readable=False)
    assert not server.restartable
    assert (
        server.problems[0].text == "The server (process 5) belongs to root; me may not read its environment."
    )
    assert [problem.remedy for problem in server.problems] == ["Log in as root."]


def test_why_sudo_does_not_help_is_said_with_what_would() -> None:
    unread = Problem("sudo asks for a password.", "Look again (f5)")
    facts = FACTS.model_copy(update={"readable": False, "user": "sglang"})
    server = found_server(facts, "me", (), "/log", inspect, unread)
    assert server.obstacles == (
        Problem(
            "The server (process 5) belongs to sglang; me may not read its environment. "
            "sudo asks for a password.",
            "Look again (f5), or log in as sglang or root.",
        ),
    )
    assert server.problems[: len(server.obstacles)] == server.obstacles


def test_a_lost_variable_is_a_problem_but_no_obstacle() -> None:
    server = read(undecodable_names=("ODD",))
    assert server.problems[0].text == "These variables of the server are not UTF-8 text: ODD."
    assert server.restartable


def test_of_two_looks_at_a_server_the_one_that_tells_more_counts() -> None:
    seen, hidden = read(), read(readable=False)
    assert seen.or_fuller(hidden) is seen
    assert hidden.or_fuller(seen) is seen
    assert seen.or_fuller(later := read()) is later
    assert hidden.or_fuller(later := read(readable=False)) is later


def test_a_launcher_with_a_title_has_lost_its_command() -> None:
    server = read(known="title", argv=("sglang::http_server/tokenizer_manager",))
    assert not server.restartable
    assert server.problems[0].text.startswith("This release hides the server's command line")


def test_a_worker_file_that_cannot_be_written() -> None:
    server = read(workers=(FILE.model_copy(update={"writable": False}),))
    assert [problem.text for problem in server.problems] == [
        "The worker file /s/srt/speculative/eagle_worker_v2.py is not writable for this account."
    ]


def test_a_package_that_was_not_found() -> None:
    server = read(package=PackageFacts(problem="OSError: no"), workers=())
    assert server.choice.why.startswith("EAGLE needs eagle_worker.py or eagle_worker_v2.py")
    assert [problem.text for problem in server.problems] == [
        "The server's sglang package was not found. OSError: no",
        f"The worker file is not known: {server.choice.why}.",
    ]


def test_a_worker_of_unknown_shape_keeps_the_class_that_runs() -> None:
    server = read()
    assert (server.info.worker.class_name, server.info.worker.state) == ("EAGLEWorkerV2", FileState.ORIGINAL)
    assert server.info.worker.family == ""


def test_what_the_running_server_says_wins() -> None:
    body = {
        "model_path": "/real",
        "speculative_algorithm": "EAGLE",
        "speculative_num_steps": 3,
        "speculative_eagle_topk": 1,
        "speculative_num_draft_tokens": 4,
        "disable_overlap_schedule": True,
        "api_key": "k",
        "admin_api_key": "k",
        "env_vars": {"HF_TOKEN": "t"},
        "version": "0.5.9",
    }
    answer = EndpointAnswer(status=200, body=json.dumps(body))
    server = read(server_info=answer, package=PackageFacts(path="/s"))
    assert server.info.effective == SpecSettings(
        algorithm="EAGLE", num_steps=3, eagle_topk=1, num_draft_tokens=4, overlap=False
    )
    assert (server.info.model_path, server.info.sglang_version, server.serving) == ("/real", "0.5.9", True)
    assert not {"api_key", "admin_api_key", "env_vars"} & set(server.server_args)


def test_odd_answers_are_no_answers() -> None:
    for body in ("", "not json", "[1]", "null"):
        server = read(server_info=EndpointAnswer(status=200, body=body))
        assert server.server_args == {}
        assert server.info.effective.algorithm is None


def test_a_command_line_that_is_no_text_cannot_be_restarted() -> None:
    server = read(argv_is_text=False)
    assert not server.restartable
    assert server.problems[0].text == "The server's command line is not UTF-8 text."

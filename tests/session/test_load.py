"""The load driver against a real HTTP server, through a local stand-in for the connection."""

from __future__ import annotations

import ast
import asyncio
import json
import socket
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from support.generate_server import generate_server
from support.local_remote import LocalRemote

from specttui.errors import ConnectionLostError, UsageError
from specttui.events import LoadFinished, LoadProgressed, LoadStarted
from specttui.host.remote import CommandResult
from specttui.session import load_client
from specttui.session.load import LoadPlan, RequestRecord, run_load

PROMPTS = ("one two", "quotes \"' and \u00fcml\u00e4ut\nnew line", "three")


@pytest.fixture
def remote(tmp_path):
    return LocalRemote(tmp_path, env={"TMPDIR": str(tmp_path)})


@pytest.fixture
def server():
    with generate_server() as running:
        yield running


def plan_for(port, **changes):
    settings = {
        "concurrency": 2,
        "requests": 6,
        "max_new_tokens": 9,
        "port": port,
        "prompts": PROMPTS,
        "interpreter": sys.executable,
    }
    return LoadPlan(**(settings | changes))


async def until(condition):
    while not condition():  # noqa: ASYNC110 - the server's threads cannot set an asyncio event
        await asyncio.sleep(0.02)


async def drive(remote, plan):
    events = []
    async with asyncio.timeout(60):
        result = await run_load(remote, plan, events.append, load_id=4)
    return result, events


async def test_a_load_sends_the_prompts_and_measures_each_request(remote, server, tmp_path):
    result, events = await drive(remote, plan_for(server.port, prompts_name="mine"))

    assert events[0] == LoadStarted(load_id=4, concurrency=2, requests=6, max_new_tokens=9, prompts="mine")
    assert events[-2] == LoadProgressed(load_id=4, done=6)
    assert events[-1] is result.finished
    assert [type(event) for event in events[1:-1]] == [LoadProgressed] * (len(events) - 2)
    assert sorted(server.texts()) == sorted(PROMPTS * 2)
    path, headers, body = server.requests[0]
    assert (path, "Authorization" in headers) == ("/generate", False)
    assert body["sampling_params"] == {"max_new_tokens": 9, "temperature": 0, "ignore_eos": True}
    assert body["stream"] is True

    finished = result.finished
    assert (finished.load_id, finished.concurrency, finished.done, finished.failed) == (4, 2, 6, 0)
    assert (finished.error, finished.mean_accept_length) == ("", 9 / 4)
    assert finished.client_tok_s == pytest.approx(54 / finished.elapsed_s)
    assert len(result.requests) == 6
    for request in result.requests:
        assert (request.tokens, request.prompt_tokens, request.verify_count) == (9, 7, 4)
        assert 0 < request.ttft_ms <= request.latency_ms
        assert request.tpot_ms == pytest.approx((request.latency_ms - request.ttft_ms) / 8)
    ttft = sorted(request.ttft_ms for request in result.requests)
    assert finished.median_ttft_ms == pytest.approx((ttft[2] + ttft[3]) / 2)
    assert list(tmp_path.glob("specttui-load*")) == []


async def test_the_concurrency_is_what_was_asked_for(remote, server):
    server.hold.clear()
    asyncio.get_running_loop().call_later(1.0, server.hold.set)
    result, _ = await drive(remote, plan_for(server.port, concurrency=3, requests=7))
    assert (result.finished.done, server.most_running) == (7, 3)


async def test_more_threads_than_requests_send_no_more_than_asked(remote, server):
    result, _ = await drive(remote, plan_for(server.port, concurrency=50, requests=2))
    assert (result.finished.done, len(server.requests)) == (2, 2)


async def test_without_speculation_there_is_no_accept_length(remote, server):
    server.verify = False
    result, _ = await drive(remote, plan_for(server.port, requests=2))
    assert (result.finished.mean_accept_length, result.requests[0].accept_len) == (None, None)


async def test_one_token_has_no_time_per_token(remote, server):
    result, _ = await drive(remote, plan_for(server.port, requests=1, max_new_tokens=1))
    assert (result.requests[0].tokens, result.requests[0].tpot_ms) == (1, None)
    assert result.finished.median_tpot_ms is None


async def test_a_server_without_the_native_endpoint_is_driven_through_openais(remote, server):
    server.native = False
    result, _ = await drive(remote, plan_for(server.port, concurrency=1, requests=3))
    assert (result.finished.done, result.finished.error) == (3, "")
    assert [path for path, _, _ in server.requests] == ["/generate", *["/v1/completions"] * 3]
    assert server.requests[1][2] == {
        "model": "a-model",
        "prompt": "one two",
        "max_tokens": 9,
        "temperature": 0,
        "ignore_eos": True,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert [(request.tokens, request.verify_count) for request in result.requests] == [(9, None)] * 3


async def test_the_api_key_reaches_the_server_and_no_argv(remote, server, tmp_path):
    server.api_key = "s3cret-key"
    plan = plan_for(server.port, api_key="s3cret-key")
    result, events = await drive(remote, plan)
    assert (result.finished.done, result.finished.error) == (6, "")
    assert "s3cret-key" not in repr((remote.commands, events, plan))


async def test_the_job_file_is_private_and_named_by_its_argv_only(remote, server):
    modes = []

    class Watching(LocalRemote):
        async def run(self, argv, **options):
            result = await super().run(argv, **options)
            if result.text:
                found = await super().run(["stat", "-c", "%a", result.text.splitlines()[0]])
                modes.append(found.text)
            return result

    home = remote._home
    await drive(Watching(home, env={"TMPDIR": str(home)}), plan_for(server.port, requests=1))
    assert modes == ["600"]


async def test_a_wrong_key_ends_the_load_early_with_the_servers_words(remote, server):
    server.api_key = "right"
    result, _ = await drive(remote, plan_for(server.port, concurrency=1, requests=50, api_key="wrong"))
    assert (result.finished.done, result.finished.failed, len(server.requests)) == (0, 3, 3)
    assert result.finished.error == "3 of 3 requests failed (47 were not sent): HTTP 401: Unauthorized"
    assert (result.finished.client_tok_s, result.finished.median_ttft_ms) == (None, None)


async def test_single_failures_are_counted_and_named(remote, server):
    server.fail = {1: (500, '{"error": {"message": "out of\\nmemory", "code": 500}}')}
    result, events = await drive(remote, plan_for(server.port, concurrency=1))
    assert (result.finished.done, result.finished.failed) == (5, 1)
    assert result.finished.error == "1 of 6 requests failed: HTTP 500: out of memory"
    assert events[-2] == LoadProgressed(load_id=4, done=5, failed=1)


async def test_an_aborted_request_is_a_failure(remote, server):
    server.abort_text = "The input is too long"
    result, _ = await drive(remote, plan_for(server.port, concurrency=1, requests=1))
    assert result.finished.error == (
        "1 of 1 requests failed: The server aborted the request: The input is too long"
    )


async def test_nobody_listening_is_said_plainly(remote):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        result, _ = await drive(remote, plan_for(port, concurrency=1, requests=9))
    assert result.finished.error == (
        f"3 of 3 requests failed (6 were not sent): Nothing listens on 127.0.0.1:{port} of the host"
    )


async def test_a_silent_server_is_said_plainly(remote, server):
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        port = mute.getsockname()[1]
        result, _ = await drive(remote, plan_for(port, concurrency=1, requests=1, request_timeout_s=0.2))
    assert (
        result.finished.error
        == f"1 of 1 requests failed: The server at 127.0.0.1:{port} was silent for 0.2 s"
    )


async def test_cancelling_ends_the_script_on_the_host_and_the_load_event_says_so(remote, server, tmp_path):
    server.hold.clear()
    events = []
    task = asyncio.create_task(run_load(remote, plan_for(server.port), events.append, load_id=1))
    async with asyncio.timeout(60):
        await until(lambda: server.running == 2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: server.broken_pipes == 2)
    assert isinstance(events[-1], LoadFinished)
    assert (events[-1].done, events[-1].error) == (0, "Cancelled")
    assert len(server.requests) == 2
    assert list(tmp_path.glob("specttui-load*")) == []


async def test_the_script_ends_by_itself_when_nobody_reads_it_any_more(remote, server):
    class Deaf(LocalRemote):
        """Closes the pipe and leaves the process alone, as a broken connection does."""

        @asynccontextmanager
        async def stream(self, argv, *, env=None):
            process = await asyncio.create_subprocess_exec(
                *argv, stdout=asyncio.subprocess.PIPE, stdin=asyncio.subprocess.DEVNULL
            )

            async def nothing():
                await until(lambda: server.running == 2)
                process._transport.get_pipe_transport(1).close()
                statuses.append(await process.wait())
                raise ConnectionLostError("The connection broke")
                yield b""

            yield nothing()

    statuses = []
    server.hold.clear()
    events = []
    async with asyncio.timeout(60):
        with pytest.raises(ConnectionLostError):
            await run_load(Deaf(remote._home), plan_for(server.port), events.append, load_id=1)
    assert (statuses, events[-1].error) == ([1], "The connection broke")


async def test_a_host_without_python_is_said_plainly(remote):
    class Bare(LocalRemote):
        async def run(self, argv, **options):
            return await super().run([*argv[:4], "no-such-python"] if len(argv) > 4 else argv, **options)

    bare = Bare(remote._home, env={"TMPDIR": str(remote._home)})
    result, events = await drive(bare, plan_for(1))
    assert result.finished.error.startswith("The load needs Python 3 on local. None of ")
    assert events[-1] is result.finished
    assert list(remote._home.glob("specttui-load*")) == []


async def test_a_host_without_room_for_the_script_is_said_plainly(remote):
    full = LocalRemote(remote._home, env={"TMPDIR": str(remote._home / "missing")})
    result, _ = await drive(full, plan_for(1))
    assert result.finished.error.startswith("A command on local exited with 1. ")


async def test_a_script_that_dies_leaves_its_last_words(remote, server):
    class Dying(LocalRemote):
        async def run(self, argv, *, stdin=b"", **options):
            return await super().run(
                argv, stdin=b"raise SystemExit('no sockets here')" if stdin else b"", **options
            )

    result, _ = await drive(Dying(remote._home, env={"TMPDIR": str(remote._home)}), plan_for(server.port))
    assert result.finished.error == "The load script on the host ended early. no sockets here"
    assert list(remote._home.glob("specttui-load*")) == []


async def test_output_in_any_chunks_and_foreign_lines_do_no_harm():
    record = json.dumps(
        {"kind": "request", "ttft_ms": 10.0, "tpot_ms": 2.0, "latency_ms": 30.0, "tokens": 12}
    )
    output = (
        f'Welcome!\n@specttui-load {record}\n@specttui-load {{"kind": "finished", "elapsed_s": 0.5}}\n@spect'
    )

    class Scripted:
        name = "scripted"

        async def run(self, argv, **options):
            return CommandResult(tuple(argv), 0, b"/tmp/x\npython3\n", b"")

        @asynccontextmanager
        async def stream(self, argv, *, env=None):
            async def bytes_one_by_one():
                for byte in output.encode():
                    yield bytes([byte])

            yield bytes_one_by_one()

    result, _ = await drive(Scripted(), plan_for(1, requests=1))
    assert result.requests == (RequestRecord(10.0, 2.0, 30.0, 12),)
    assert result.requests[0].tok_s == 400.0
    assert (result.finished.elapsed_s, result.finished.client_tok_s) == (0.5, 24.0)


def test_the_script_is_old_python_and_needs_only_the_standard_library():
    tree = ast.parse(Path(load_client.__file__).read_text(), feature_version=(3, 6))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name for node in imports if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in imports if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names - {"__future__"}


@pytest.mark.parametrize("field", ["concurrency", "requests", "max_new_tokens"])
async def test_counts_below_one_are_refused_before_anything_is_sent(remote, field):
    events = []
    with pytest.raises(UsageError, match="must be at least 1, not 0"):
        await run_load(remote, plan_for(1, **{field: 0}), events.append, load_id=1)
    assert (events, remote.commands) == ([], [])


async def test_no_prompts_are_refused(remote):
    with pytest.raises(UsageError, match="number of prompts must be at least 1"):
        await drive(remote, plan_for(1, prompts=()))

"""The simulated server fails as SGLang does, with its words and exit codes."""

import pytest
from support.demo_client import PATIENCE_S, login, sh

from specttui.demo.host import DemoHost

BASE = "python3 -m sglang.launch_server --model-path models/Kimi-K2.5 --tp 2 --port {port}"
SPECULATION = " --speculative-algorithm EAGLE3 --speculative-draft-model-path models/Kimi-K2.5-EAGLE3"
NUMBERS = (
    SPECULATION + " --speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4"
)

NO_REPO = (
    "OSError: Repo id must be in the form 'repo_name' or 'namespace/repo_name': '/no/where'. "
    "Use `repo_type` argument if needed."
)


async def run(host: DemoHost, flags: str, env: str = "") -> tuple[str, int]:
    """Run a server in the foreground; its output and its shell's exit status."""
    command = (
        f"{env} PYTHONPATH={host.scratch.site} {BASE.format(port=host.server_port)}{flags}; echo exit $?"
    )
    async with login(host) as connection:
        output = await sh(connection, command)
    text, _, code = output.rpartition("exit ")
    return text, int(code)


@pytest.fixture
async def host():
    async with DemoHost(speed=50, start_server=False) as host:
        yield host


@pytest.mark.parametrize(
    ("flags", "last", "code"),
    [
        (
            " --speculative-num-stepz 3",
            "sglang serve: error: unrecognized arguments: --speculative-num-stepz 3",
            2,
        ),
        (
            SPECULATION + " --speculative-num-steps 3",
            "TypeError: '>' not supported between instances of 'NoneType' and 'int'",
            1,
        ),
        (
            NUMBERS + " --speculative-draft-model-path /no/where",
            NO_REPO,
            1,
        ),
    ],
)
async def test_refused_before_loading(host, flags, last, code):
    output, status = await run(host, flags)
    assert output.splitlines()[-1] == last
    assert status == code


@pytest.mark.parametrize(
    ("flags", "env", "cause"),
    [
        (NUMBERS + " --mem-fraction-static 0.99", "", "torch.OutOfMemoryError: CUDA out of memory. Tried to"),
        (
            NUMBERS + " --mem-fraction-static 0.05",
            "",
            "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.",
        ),
        (NUMBERS, "NCCL_PROTO=FOO", "torch.distributed.DistBackendError: NCCL error in: "),
    ],
)
async def test_dead_while_loading(host, flags, env, cause):
    output, status = await run(host, flags, env)
    assert f"\n{cause}" in output
    assert "TP0] Scheduler hit an exception: Traceback (most recent call last):" in output
    assert "] Received sigquit from a child process. It usually means the child failed.\n" in output
    assert status == 128 + 9


async def test_a_port_in_use_is_reported_and_the_ready_line_all_the_same():
    async with DemoHost(speed=50) as host:
        await host.wait_ready(PATIENCE_S)
        output, status = await run(host, NUMBERS)
    lines = [line.partition("] ")[2] for line in output.splitlines()[-4:]]
    address = f"('127.0.0.1', {host.server_port})"
    assert lines == [
        f"ERROR:    [Errno 98] error while attempting to bind on address {address}: address already in use",
        "INFO:     Waiting for application shutdown.",
        "The server is fired up and ready to roll!",
        "INFO:     Application shutdown complete.",
    ]
    assert status == 3

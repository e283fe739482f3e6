"""The demo host's simulated server as real processes: start, traffic, endpoints, restart, and its end."""

import asyncio
import json
import re
import shutil
import socket
import struct
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from support.demo_client import PATIENCE_S, all_gone, fetch, log_with, login, main_pid, processes_of, sh
from support.simulated_scheduler import DECODE

from specttui.demo.host import DemoHost
from specttui.demo.processes import marked_pids


@pytest.fixture
async def host():
    async with DemoHost(speed=20, seed=3) as host:
        await host.wait_ready(PATIENCE_S)
        yield host


async def test_the_log_tells_a_start_as_sglang_does(host):
    log = await log_with(host, "gen throughput")
    milestones = [
        r"UserWarning: 'python -m sglang.launch_server' is still supported",
        r"^\[[-\d]+ [:\d]+\] server_args=ServerArgs\(model_path='.*Kimi-K2.5', .*speculative_num_steps=5, ",
        r"^\[[-\d]+ [:\d]+ TP0\] Init torch distributed begin\.$",
        r"^\[[-\d]+ [:\d]+ TP7\] Init torch distributed ends\. elapsed=\d\.\d\d s, mem usage=\d\.\d\d GB$",
        r"\rMulti-thread loading shards:  50% Completed \| 32/64 \[",
        r"TP0\] Load weight end\. elapsed=.* s, type=KimiK25ForConditionalGeneration, avail mem=",
        r"TP0\] KV Cache is allocated\. #tokens: \d+, KV size: \d+\.\d\d GB$",
        r"TP0\] Capture cuda graph begin\. This can take up to several minutes\. avail mem=",
        r"\rCapturing batches \(bs=1 avail_mem=\d+\.\d\d GB\): 100%\|██████████\| 20/20 \[",
        r"TP0\] Capture cuda graph end\. Time elapsed: \d\.\d\d s\. mem usage=0\.20 GB\. avail mem=",
        r"TP0\] Load weight end\. elapsed=.* s, type=LlamaForCausalLMEagle3, avail mem=",
        r"TP0\] Capture draft cuda graph end\. Time elapsed: ",
        r"TP0\] max_total_num_tokens=\d+, chunked_prefill_size=8192, max_prefill_tokens=16384, ",
        r"INFO:     Uvicorn running on http://127\.0\.0\.1:\d+ \(Press CTRL\+C to quit\)$",
        r'INFO:     127\.0\.0\.1:\d+ - "GET /model_info HTTP/1\.1" 200 OK$',
        r"^\[[-\d]+ [:\d]+\] The server is fired up and ready to roll!$",
        r"^\[[-\d]+ [:\d]+ TP0\] Decode batch, #running-req: 1, ",
    ]
    position = 0
    for milestone in milestones:
        found = re.compile(milestone, re.MULTILINE).search(log, position)
        assert found, milestone
        position = found.start()
    line = next(line for line in log.splitlines() if "Decode batch" in line)
    assert DECODE.fullmatch(line.partition("TP0] ")[2])


async def test_the_process_tree_is_the_real_ones(host):
    async with login(host) as connection:
        pid = await main_pid(host, connection)
        titles = (
            await sh(connection, f"for p in $(pgrep -P {pid}); do tr -d '\\0' </proc/$p/cmdline; echo; done")
        ).split()
        names = await sh(
            connection, f"cat /proc/{pid}/comm; for p in $(pgrep -P {pid}); do cat /proc/$p/comm; done"
        )
    assert titles == [*(f"sglang::scheduler_TP{rank}" for rank in range(8)), "sglang::detokenizer"]
    assert names.split() == ["python3", *["sglang::scheduler"[:15]] * 8, "sglang::detokenizer"[:15]]


async def test_the_endpoints_that_a_profiler_asks(host):
    await log_with(host, "Decode batch")
    info = json.loads(await fetch(host, "/server_info"))
    assert info["version"] == "0.5.12"
    assert info["speculative_num_draft_tokens"] == 6
    assert info["internal_states"][0]["last_gen_throughput"] > 0
    assert 1.0 < info["internal_states"][0]["avg_spec_accept_length"] < 4.0
    assert json.loads(await fetch(host, "/v1/models"))["data"][0]["id"] == str(host.scratch.target_path)
    assert json.loads(await fetch(host, "/get_model_info"))["model_type"] == "kimi_k25"
    assert "sglang:spec_accept_length{" in await fetch(host, "/metrics")
    assert await fetch(host, "/health") == ""
    with pytest.raises(urllib.error.HTTPError, match="404"):
        await fetch(host, "/nowhere")
    with pytest.raises(urllib.error.HTTPError, match="400"):
        await fetch(host, "/flush_cache", {})


async def test_generation_whole_and_streamed(host):
    body = {"text": "why", "sampling_params": {"max_new_tokens": 12}}
    answer = json.loads(await fetch(host, "/generate", body))
    assert answer["meta_info"]["completion_tokens"] == 12
    assert len(answer["text"].split()) == 12
    events = (await fetch(host, "/generate", {**body, "stream": True})).split("\n\n")
    assert events[-2:] == ["data: [DONE]", ""]
    assert json.loads(events[-3].removeprefix("data: "))["meta_info"]["completion_tokens"] == 12
    chat = {"messages": [{"role": "user", "content": "why"}], "max_tokens": 9, "stream": True}
    chunks = [
        json.loads(event.removeprefix("data: "))
        for event in (await fetch(host, "/v1/chat/completions", chat)).split("\n\n")[:-2]
    ]
    assert len("".join(chunk["choices"][0]["delta"]["content"] for chunk in chunks).split()) == 9
    completion = json.loads(await fetch(host, "/v1/completions", {"prompt": "why", "max_tokens": 5}))
    assert completion["usage"]["completion_tokens"] == 5


async def test_nvidia_smi_sees_the_server(host):
    async with login(host) as connection:
        used = await sh(connection, "nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits")
        apps = await sh(connection, "nvidia-smi --query-compute-apps=pid --format=csv,noheader")
    assert used.split() == ["83190"] * 8
    assert len(apps.split()) == 8


async def test_a_restart_by_hand_loads_the_changed_worker_file(host):
    await log_with(host, "Decode batch")
    with host.worker_path.open("a") as worker:
        worker.write('\nprint("worker file was loaded again", flush=True)\n')
    async with login(host) as connection:
        pid = await main_pid(host, connection)
        environ = await sh(
            connection, f"tr '\\0' '\\n' </proc/{pid}/environ | grep -E '^(PYTHONPATH|SPECTTUI)'"
        )
        assert f"PYTHONPATH={host.scratch.site}" in environ.splitlines()
        assert "worker file was loaded again" not in host.log_path.read_text()
        await sh(connection, f"kill {pid}; while kill -0 {pid} 2>/dev/null; do sleep 0.05; done")
        assert "Gracefully exiting... Remaining number of requests 0." in host.log_path.read_text()
        size = host.log_path.stat().st_size
        argv = " ".join(host.server_argv).replace("--speculative-num-steps 5", "--speculative-num-steps 2")
        await sh(connection, f"PYTHONPATH={host.scratch.site} setsid {argv} >>sglang.log 2>&1 </dev/null &")
    log = await log_with(host, "Decode batch", after=size)
    assert "worker file was loaded again" in log
    assert "speculative_num_steps=2, speculative_eagle_topk=1, speculative_num_draft_tokens=3" in log


async def test_a_broken_worker_file_fails_the_start(host):
    host.worker_path.write_text("raise RuntimeError('broken by hand')\n")
    async with login(host) as connection:
        pid = await main_pid(host, connection)
        await sh(connection, f"kill {pid}; while kill -0 {pid} 2>/dev/null; do sleep 0.05; done")
    size = host.log_path.stat().st_size
    host.start_server()
    log = await log_with(
        host, "Received sigquit from a child process. It usually means the child failed.", after=size
    )
    assert "TP0] Scheduler hit an exception: Traceback (most recent call last):" in log
    assert "RuntimeError: broken by hand" in log


async def test_a_killed_scheduler_takes_the_server_down(host):
    async with login(host) as connection:
        pid = await main_pid(host, connection)
        await sh(connection, f"kill -9 $(pgrep -P {pid} -xf sglang::scheduler_TP0)")
        await sh(connection, f"while kill -0 {pid} 2>/dev/null; do sleep 0.05; done")
    log = host.log_path.read_text()
    assert re.search(
        r"Subprocess scheduler_0 \(pid=\d+\) crashed with exit code -9\. Triggering SIGQUIT", log
    )
    assert "SIGQUIT received. signum=None, frame=None. It usually means one child failed." in log


async def test_a_request_under_way_is_finished_before_a_graceful_exit():
    async with DemoHost(speed=20, traffic=0) as host:
        await host.wait_ready(PATIENCE_S)
        body = {"text": "why", "sampling_params": {"max_new_tokens": 60}}
        asked = asyncio.ensure_future(fetch(host, "/generate", body))
        await log_with(host, "Prefill batch, #new-seq: 1, #new-token: 1,")
        async with login(host) as connection:
            await sh(connection, f"kill {await main_pid(host, connection)}")
        assert json.loads(await asked)["meta_info"]["completion_tokens"] == 60
        log = await log_with(host, "Remaining number of requests 0. Remaining requests remaining_rids=[].")
        assert re.search(
            r"Gracefully exiting\.\.\. Remaining number of requests 1\. .*rids=\['[0-9a-f]{32}'\]", log
        )


async def test_an_api_key_is_asked_for_but_not_for_health():
    async with DemoHost(speed=20, traffic=0, flags=("--api-key", "secret")) as host:
        await log_with(host, "The server is fired up and ready to roll!")
        assert await fetch(host, "/health") == ""
        with pytest.raises(urllib.error.HTTPError, match="401"):
            await fetch(host, "/v1/models")


async def test_the_h200_profile_serves_on_one_gpu_without_a_rank():
    async with DemoHost(speed=20, profile="h200", steps=0) as host:
        log = await log_with(host, "Decode batch")
        async with login(host) as connection:
            gpus = await sh(connection, "nvidia-smi -L")
            pid = await main_pid(host, connection)
            children = await sh(connection, f"pgrep -P {pid} -a")
    assert gpus == "GPU 0: NVIDIA H200 (UUID: GPU-00000000-0000-4000-8000-000000000000)\n"
    assert [line.partition(" ")[2].strip("\0 ") for line in children.splitlines()] == [
        "sglang::scheduler",
        "sglang::detokenizer",
    ]
    plain = (
        r"^\[[-\d]+ [:\d]+\] Decode batch, #running-req: 1, #token: \d+, token usage: 0\.00, cuda graph: True"
    )
    assert re.search(plain, log, re.MULTILINE)


async def test_the_server_does_not_outlive_its_owner():
    script = (
        "import asyncio, sys\n"
        "from specttui.demo.host import DemoHost\n"
        "async def main():\n"
        "    async with DemoHost(speed=20) as host:\n"
        "        await host.wait_ready()\n"
        "        print(host.demo_id, host.scratch.root, flush=True)\n"
        "        await asyncio.sleep(300)\n"
        "asyncio.run(main())\n"
    )
    owner = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE)
    assert owner.stdout is not None
    demo_id, root = (await owner.stdout.readline()).decode().split()
    assert await processes_of(demo_id, 10) == 10
    owner.kill()
    await owner.wait()
    ended = await all_gone(demo_id)
    shutil.rmtree(root)
    assert ended


async def test_nothing_is_left_behind():
    async with DemoHost(speed=20) as host:
        await host.wait_ready(PATIENCE_S)
        async with login(host) as connection:
            await sh(connection, "setsid sleep 300 >/dev/null 2>&1 </dev/null & exit 0")
        assert await processes_of(host.demo_id, 11) == 11
    assert marked_pids(host.demo_id) == []
    assert not host.scratch.root.exists()


def log_text(host: DemoHost) -> str:
    return Path(host.log_path).read_text(errors="replace")


async def test_a_client_that_hangs_up_leaves_no_traceback_in_the_log():
    """A reset connection is no news; the screen would call the server broken."""
    async with DemoHost(speed=20, seed=3) as demo:
        await demo.wait_ready(60)
        for _ in range(5):
            with socket.create_connection(("127.0.0.1", demo.server_port)) as client:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await asyncio.sleep(1.0)
        assert "Traceback" not in log_text(demo)

"""A settings file that sets everything."""

from __future__ import annotations

WHOLE = """
theme = "nord"
refresh_hz = 4
glyphs = "ascii"
keymap = { patch = "f2" }

[[presets]]
name = "long prompts"
short = "long"
group = "prefill"
description = "Larger chunks."
flags = { chunked_prefill_size = 4096, "--enable-metrics" = true }
env = { NCCL_MIN_NCHANNELS = 8 }
remove_flags = ["max-running-requests"]
unset_env = ["NCCL_PROTO"]

[[targets]]
class = "MyWorker"
cycle_method = "forward_batch_generation"
phases = { draft = "self.draft", verify = "self.check" }

[hosts.gpu]
host = "root@10.1.230.174:2222"
via = "docker exec -i 'the server'"
readonly = true
server_port = 30001
log = "/var/log/sglang.log"
sudo = true
roll_back = true

[hosts.gpu.commands]
stop = ["systemctl", "stop", "sglang"]
start = "start {command}"

[hosts.other]
via = ["nsenter", "-t", "1"]
sudo = false

[servers.kimi]
nodes = ["gpu", "root@gpu-b"]
"""

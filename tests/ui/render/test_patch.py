from dataclasses import replace

from support.scripted_session import ScriptedSession

from specttui.ui.render.patch import preview_lines


async def test_phases_with_their_lines_and_what_is_missing():
    preview = await ScriptedSession().preview_patch()
    lines = [line.plain for line in preview_lines(preview)]
    assert lines[0] == "/opt/sglang/python/sglang/srt/speculative/eagle_worker.py"
    assert lines[1] == "worker EAGLEWorker  cycle method forward_batch_generation  family eagle"
    assert lines[2] == "sha256 0123456789ab becomes ba9876543210; every original byte stays"
    assert lines[4] == "  found    draft          line 301: self.draft(batch)"
    assert lines[7] == "  missing  kv             no call in the cycle method frees the cache"


async def test_unknown_phases_warnings_and_a_second_patch():
    preview = replace(
        await ScriptedSession().preview_patch(),
        phases_found={"accept_counts": "line 9: x[0]"},
        warnings=("read-only [file]",),
        already_patched=True,
    )
    lines = [line.plain for line in preview_lines(preview)]
    assert "already patched: the block is replaced" in lines
    assert "  found    accept counts  line 9: x[0]" in lines
    assert lines[-1] == "! read-only [file]"


async def test_a_server_on_several_hosts_names_them():
    preview = replace(await ScriptedSession().preview_patch(), nodes=("gpu-a", "gpu-b"))
    lines = [line.plain for line in preview_lines(preview)]
    assert lines[0].startswith("/opt/sglang")
    assert lines[1] == "on gpu-a, gpu-b: on all of them, or on none"

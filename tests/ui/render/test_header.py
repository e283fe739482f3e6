from dataclasses import replace

import pytest
from support.scripted_nodes import sixteen_nodes, two_nodes
from support.scripted_snapshots import empty, gpus, serving

from specttui.events import Clock, FileState, Gpu
from specttui.state.snapshot import NodeRow, ProbeView, Snapshot
from specttui.ui.render.glyphs import BLOCKS
from specttui.ui.render.header import View, chips_line, gpu_line, model_name, title_line, value_range


def title(snapshot, view=None, width=118):
    return title_line(snapshot, view or View(), width, BLOCKS).plain


def test_title_says_where_what_and_in_which_state():
    text = title(serving())
    assert text.startswith("specttui  root@gpu-host  Kimi-K2.5  sglang 0.5.12  TP8")
    assert text.endswith("LIVE  PATCHED  GPU clock")
    assert len(text) == 118


def test_narrow_title_drops_the_least_important_first():
    assert title(serving(), width=78).startswith("specttui  root@gpu-host  Kimi-K2.5  sglang 0.5.12 ")
    assert "TP8" not in title(serving(), width=78)


def test_title_says_on_how_many_hosts_before_what_runs_there():
    assert title(two_nodes()).startswith("specttui  gpu-a gpu-b  TP16 on 2 nodes  Kimi-K2.5  sglang 0.5.12  ")
    assert title(sixteen_nodes(), width=78).startswith(
        "specttui  gpu-00 gpu-01 gpu-02 gp…  TP128 on 16 nodes"
    )
    assert title(sixteen_nodes(), width=58).startswith("specttui  gpu…  TP128 on 16 nodes LIVE")
    assert title(sixteen_nodes(), width=53).startswith("specttui  TP128 on 16 nodes  LIVE")
    unknown = Snapshot(target="a b", nodes=(NodeRow("a"), NodeRow("b")))
    assert title(unknown, width=78).split() == ["specttui", "a", "b", "2", "nodes", "CONNECTING"]


@pytest.mark.parametrize(
    ("connection", "word"),
    [
        ("up", "LIVE"),
        ("connecting", "CONNECTING"),
        ("retrying", "RETRYING"),
        ("down", "DISCONNECTED"),
        ("none", "LOG"),
    ],
)
def test_connection_has_a_word(connection, word):
    assert word in title(replace(serving(), connection=connection)).split()


def test_demo_replay_pause_and_readonly_have_words():
    assert "DEMO" in title(replace(serving(), mode="demo"))
    assert "REPLAY" in title(serving(), View(replay=True))
    assert "PAUSED 12 s" in title(serving(), View(paused_s=12.0))
    assert "READONLY" in title(serving(), View(readonly=True))


@pytest.mark.parametrize("state", [FileState.ORIGINAL, FileState.PATCHED, FileState.FOREIGN])
def test_file_state_is_a_word(state):
    snapshot = serving()
    changed = replace(snapshot, worker_file=snapshot.worker_file.model_copy(update={"state": state}))
    assert state.value.upper() in title(changed).split()


def test_clock_is_named_and_sync_says_that_it_distorts():
    snapshot = replace(serving(), probe=ProbeView("live", Clock.SYNC))
    assert title(snapshot).endswith("sync clock, distorts")


def test_nothing_known_yet():
    assert title(empty(), width=78).split() == ["specttui", "root@gpu-host", "CONNECTING"]
    assert chips_line(empty(), 78).plain.startswith("no configuration known yet")


def test_chips_mark_what_the_server_changed():
    snapshot = replace(serving(), changed_settings=("steps",))
    assert chips_line(snapshot, 100).plain.startswith("EAGLE3  steps 2*  topk 1  draft 3  NCCL_PROTO=LL")


def test_chips_line_ends_with_requests_and_run():
    assert chips_line(serving(), 78).plain.endswith("1 running  run 4 of 4")
    queued = replace(serving(), queue=3, load="load 5/16")
    assert chips_line(queued, 110).plain.endswith("load 5/16  1 running, 3 queued  run 4 of 4")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/models/Kimi-K2.5", "Kimi-K2.5"),
        ("moonshotai/Kimi-K2.5", "Kimi-K2.5"),
        ("/root/.cache/huggingface/hub/models--org--Some-7B/snapshots/abc123/", "Some-7B"),
        ("", ""),
    ],
)
def test_model_name(path, name):
    assert model_name(path) == name


def test_gpu_line_gives_the_spread():
    assert gpu_line(gpus(), 118).plain == (
        "GPU  8 x H200   load 96-99 %   memory 1031 of 1123 GiB   power 410-445 W each   54-56 C"
    )


def test_gpu_line_without_figures():
    assert "nvidia-smi" in gpu_line((), 118).plain
    assert "load -" in gpu_line((Gpu(index=0),), 118).plain


def test_value_range():
    assert value_range([1.0, None, float("nan")], "%") == "1 %"
    assert value_range([None], "%") == "-"


def test_default_snapshot_can_be_drawn_at_any_width():
    for width in range(20, 200, 7):
        assert title_line(sixteen_nodes(), View(), width, BLOCKS).cell_length <= width
        assert title_line(Snapshot(), View(), width, BLOCKS).cell_length <= width
        assert chips_line(Snapshot(), width).cell_length <= width

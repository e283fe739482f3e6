import math
from dataclasses import replace

from support.scripted_snapshots import gpus, serving

from specttui.events import Gpu
from specttui.state.snapshot import RankRow
from specttui.ui.render.panel import Space
from specttui.ui.render.ranks import gpus_panel, ranks_panel

SPACE = Space(60, 9, framed=True)


def test_the_slowest_rank_is_marked():
    lines = ranks_panel(serving().ranks, SPACE).fill(SPACE).plain.split("\n")
    assert [line[0] for line in lines[1:]] == [" "] * 7 + [">"]
    assert lines[8].startswith(">TP7        █")
    assert lines[8].endswith("  19.76    19.12")


def test_where_ranks_do_not_fit_the_slowest_are_shown():
    ranks = tuple(RankRow(f"TP{rank}", 19.0 + rank % 5) for rank in range(16))
    panel = ranks_panel(ranks, Space(60, 4, framed=True))
    assert [line.plain.split()[0] for line in panel.lines] == [">TP4", ">TP9", ">TP14"]
    assert panel.caption == "median ms, > slowest first, +13 more"


def test_ranks_without_figures():
    lines = ranks_panel((RankRow("TP0", None), RankRow("TP1", math.nan)), SPACE).fill(SPACE).plain.split("\n")
    assert [line.split() for line in lines[1:]] == [["TP0", "-", "-"], ["TP1", "-", "-"]]


def test_no_ranks_yet():
    assert "once a second" in ranks_panel((), SPACE).fill(SPACE).plain


def test_gpus():
    space = Space(46, 8, framed=True)
    lines = gpus_panel(gpus(), space).fill(space).plain.split("\n")
    assert lines[0] == "  0  ███████▋  96 %  128/140 GiB  410 W  54 C"
    assert {len(line) for line in lines} == {45}


def test_gpu_without_figures_and_no_gpus():
    assert gpus_panel((Gpu(index=0),), SPACE).fill(SPACE).plain.split() == [
        "0", "-", "%", "0/0", "GiB", "-", "W", "-", "C",
    ]  # fmt: skip
    assert "nvidia-smi" in gpus_panel((), replace(SPACE)).fill(SPACE).plain

"""Ranks: as the log prints them, from whatever knows them, and who writes every cycle."""

from __future__ import annotations

import sys
import types

import pytest

from specttui.probe.block.ranks import _specttui_rank, _specttui_writes_cycles


class Worker:
    """A worker with the attributes a test gives it."""

    def __init__(self, **attributes: object) -> None:
        self.__dict__.update(attributes)


def title(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Let the process be called so."""
    module = types.ModuleType("setproctitle")
    module.getproctitle = lambda: text  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "setproctitle", module)


def distributed(monkeypatch: pytest.MonkeyPatch, rank: int, size: int) -> None:
    """Let torch.distributed be up."""
    module = types.ModuleType("torch.distributed")
    names = {"is_available": lambda: True, "is_initialized": lambda: True}
    module.__dict__.update(names, get_rank=lambda: rank, get_world_size=lambda: size)
    monkeypatch.setitem(sys.modules, "torch.distributed", module)


@pytest.mark.parametrize(
    ("text", "rank"),
    [
        ("sglang::scheduler_TP0", "TP0"),
        ("sglang::scheduler_TP3", "TP3"),
        ("sglang::scheduler_DP1_TP2", "DP1 TP2"),
        ("sglang::scheduler_DP0_PP1_TP4_EP2", "DP0 PP1 TP4 EP2"),
        ("sglang::scheduler_DP0_PP0_ATTN_CP1_MOE_DP2_TP12_EP3", "DP0 PP0 ATTN_CP1 MOE_DP2 TP12 EP3"),
        ("sglang::scheduler", ""),
        ("python3 -m something", ""),
    ],
)
def test_from_the_process_title(text: str, rank: str, monkeypatch: pytest.MonkeyPatch) -> None:
    title(monkeypatch, text)
    assert _specttui_rank(Worker(tp_rank=0)) == rank


def test_from_the_workers_attributes() -> None:
    assert _specttui_rank(Worker(tp_rank=2)) == "TP2"
    assert _specttui_rank(Worker(ps=types.SimpleNamespace(tp_rank=5))) == "TP5"
    assert _specttui_rank(Worker()) == ""
    assert _specttui_rank(Worker(tp_rank=object())) == ""


def test_from_torch_distributed(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed(monkeypatch, 3, 8)
    assert _specttui_rank(Worker()) == "TP3"
    distributed(monkeypatch, 0, 8)
    assert _specttui_rank(Worker()) == "TP0"
    distributed(monkeypatch, 0, 1)
    assert _specttui_rank(Worker()) == ""


@pytest.mark.parametrize(
    ("rank", "first"),
    [
        ("", True),
        ("TP0", True),
        ("TP1", False),
        ("DP1 TP0", True),
        ("DP1 TP2", False),
        ("PP1 TP0", True),
        ("PP1 TP1 EP1", False),
        ("ATTN_CP1 TP0", False),
    ],
)
def test_first_of_a_group_writes(rank: str, first: bool) -> None:
    assert _specttui_writes_cycles(Worker(), rank) is first


def test_with_attention_data_parallelism_each_group_has_its_first() -> None:
    arguments = types.SimpleNamespace(enable_dp_attention=True, dp_size=4, tp_size=8)
    worker = Worker(server_args=arguments)
    writers = [rank for rank in range(8) if _specttui_writes_cycles(worker, f"DP{rank // 2} TP{rank}")]
    assert writers == [0, 2, 4, 6]

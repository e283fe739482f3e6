"""nvidia-smi's table, and the watch for a deadlock."""

from __future__ import annotations

from pathlib import Path

from support.fake_nvidia_smi import write_nvidia_smi
from support.local_remote import LocalRemote

from specttui.events import Gpu
from specttui.host.gpus import parse_gpus, sample_gpus
from specttui.host.hang import HangWatch


def test_a_table_of_two() -> None:
    table = (
        "0, NVIDIA H200, 143771, 89530, 54, 370.12, 41\n"
        "1, NVIDIA A100-SXM4-80GB, 81920, 4, [N/A], [Not Supported], 30\n"
        "No devices were found\n"
    )
    assert parse_gpus(table) == (
        Gpu(
            index=0,
            name="NVIDIA H200",
            memory_total_mib=143771,
            memory_used_mib=89530,
            utilisation_percent=54.0,
            power_w=370.12,
            temperature_c=41.0,
        ),
        Gpu(
            index=1,
            name="NVIDIA A100-SXM4-80GB",
            memory_total_mib=81920,
            memory_used_mib=4,
            temperature_c=30.0,
        ),
    )


async def test_a_sample(tmp_path: Path) -> None:
    smi = write_nvidia_smi(tmp_path / "bin", used_mib=[7], utilisation="99")
    remote = LocalRemote(tmp_path, env={"PATH": f"{smi.parent}:/usr/bin:/bin"})
    assert [(gpu.memory_used_mib, gpu.utilisation_percent) for gpu in await sample_gpus(remote)] == [
        (7, 99.0)
    ]


async def test_a_host_without_gpus(tmp_path: Path) -> None:
    remote = LocalRemote(tmp_path, env={"PATH": str(tmp_path)})
    assert await sample_gpus(remote) == ()


def gpus(*loads: tuple[float, int]) -> tuple[Gpu, ...]:
    return tuple(
        Gpu(index=index, utilisation_percent=load, memory_used_mib=used)
        for index, (load, used) in enumerate(loads)
    )


def test_spinning_with_flat_memory_hangs() -> None:
    watch = HangWatch()
    assert watch.hung_for_s(gpus((100, 4000), (100, 4000)), 10.0) == 0.0
    assert watch.hung_for_s(gpus((99, 4010), (100, 3990)), 70.0) == 60.0


def test_loading_weights_does_not_hang() -> None:
    watch = HangWatch()
    watch.hung_for_s(gpus((100, 4000)), 10.0)
    assert watch.hung_for_s(gpus((100, 9000)), 70.0) == 0.0
    assert watch.hung_for_s(gpus((3, 9000)), 130.0) == 0.0


def test_one_idle_gpu_of_the_server_is_no_deadlock_but_unused_ones_do_not_count() -> None:
    watch = HangWatch()
    watch.hung_for_s(gpus((100, 4000), (0, 4000)), 0.0)
    assert watch.hung_for_s(gpus((100, 4000), (0, 4000)), 60.0) == 0.0
    watch.hung_for_s(gpus((100, 4000), (0, 3)), 70.0)
    assert watch.hung_for_s(gpus((100, 4000), (0, 3)), 100.0) == 30.0


def test_output_begins_the_watch_anew() -> None:
    watch = HangWatch()
    watch.hung_for_s(gpus((100, 4000)), 0.0)
    watch.reset()
    assert watch.hung_for_s(gpus((100, 4000)), 60.0) == 0.0

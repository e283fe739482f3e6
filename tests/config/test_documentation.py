"""docs/configuration.md names every setting, and its example is one that works."""

from __future__ import annotations

import re
from pathlib import Path

from specttui.config.model import Commands, HostProfile, PresetTable, ServerTable, Settings, TargetTable
from specttui.config.reader import parse
from specttui.launch.edits import SetFlag
from specttui.ui.keys import KEYS

TEXT = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text()


def example() -> Settings:
    found = re.search(r"```toml\n(.*?)```", TEXT, re.DOTALL)
    assert found is not None
    return parse(found[1], Path("docs/configuration.md"))


def test_the_example_can_be_used() -> None:
    settings = example()
    assert settings.profile("gpu").via == ("docker", "exec", "-i", "sglang")
    assert settings.presets[0].preset().edits[:2] == (
        SetFlag("--chunked-prefill-size", "4096"),
        SetFlag("--enable-mixed-chunk"),
    )


def test_the_example_sets_everything_there_is() -> None:
    settings = example()
    for model, set_ in (
        (Settings, settings),
        (HostProfile, settings.hosts["gpu"]),
        (Commands, settings.hosts["gpu"].commands),
        (ServerTable, settings.servers["kimi"]),
        (PresetTable, settings.presets[0]),
        (TargetTable, settings.targets[0]),
    ):
        assert set_.model_fields_set == set(model.model_fields)


def test_every_command_of_the_keymap_is_named() -> None:
    named = re.search(r"Command names for `\[keymap\]`:(.*?)\n\n", TEXT, re.DOTALL)
    assert named is not None
    words = set(re.findall(r"`(\w+)`", named[1])) | {f"maximise_{number}" for number in range(2, 5)}
    assert words == {key.id for key in KEYS}

"""The settings file: found, read strictly, and refused with file, key and nearest valid key."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.settings_file import WHOLE

from specttui.config import Commands, HostProfile, Settings, load, settings_path
from specttui.config.reader import parse
from specttui.errors import ConfigError
from specttui.launch.edits import Preset, RemoveFlag, SetEnv, SetFlag, UnsetEnv
from specttui.probe import TARGETS

PATH = Path("/settings.toml")


def test_every_setting_is_read() -> None:
    settings = parse(WHOLE, PATH)
    assert (settings.theme, settings.refresh_hz, settings.glyphs) == ("nord", 4.0, "ascii")
    assert settings.keymap == {"patch": "f2"}
    assert settings.presets[0].preset() == Preset(
        "long prompts",
        "long",
        "prefill",
        "Larger chunks.",
        (
            SetFlag("--chunked-prefill-size", "4096"),
            SetFlag("--enable-metrics"),
            RemoveFlag("--max-running-requests"),
            SetEnv("NCCL_MIN_NCHANNELS", "8"),
            UnsetEnv("NCCL_PROTO"),
        ),
    )
    assert settings.hosts["gpu"] == HostProfile(
        host="root@10.1.230.174:2222",
        via=("docker", "exec", "-i", "the server"),
        readonly=True,
        server_port=30001,
        log="/var/log/sglang.log",
        sudo=True,  # type: ignore[arg-type] # as the file writes it
        roll_back=True,
        commands=Commands(stop=("systemctl", "stop", "sglang"), start=("start", "{command}")),
    )
    assert settings.hosts["gpu"].sudo == "yes"
    assert (settings.hosts["other"].via, settings.hosts["other"].sudo) == (("nsenter", "-t", "1"), "no")


def test_a_users_target_comes_before_the_probes_own() -> None:
    first, *others = parse(WHOLE, PATH).probe_targets
    assert (first.class_name, first.cycle_method, dict(first.calls)) == (
        "MyWorker",
        "forward_batch_generation",
        {"draft": ("self.draft",), "verify": ("self.check",)},
    )
    assert tuple(others) == TARGETS


def test_a_profile_is_found_by_its_name_and_may_be_one_for_an_ssh_alias() -> None:
    settings = parse(WHOLE, PATH)
    assert settings.profile("gpu").host == "root@10.1.230.174:2222"
    assert settings.profile("other").host == "other"
    assert settings.profile("root@elsewhere") == HostProfile(host="root@elsewhere")


def test_an_empty_file_means_the_defaults() -> None:
    settings = parse("", PATH)
    assert settings == Settings()
    assert (settings.theme, settings.refresh_hz, settings.glyphs, settings.presets) == (
        "specttui-dark", 2.0, "block", (),
    )  # fmt: skip
    assert settings.profile("gpu") == HostProfile(host="gpu", sudo="auto")


@pytest.mark.parametrize(
    ("text", "key", "meant"),
    [
        ("refresh = 2", "refresh", "refresh_hz"),
        ("[hosts.gpu]\nread_only = true", "hosts.gpu.read_only", "readonly"),
        ("[hosts.gpu.commands]\nstop_it = []", "hosts.gpu.commands.stop_it", "stop"),
        ('[[presets]]\nname = "a"\n[[presets]]\nnames = "b"', "presets[2].names", "name"),
        ('[[targets]]\nclass_name = "W"\n', "targets[1].class_name", "class"),
        (
            '[[targets]]\nclass = "W"\ncycle_method = "f"\nphases = { verifies = "self.v" }',
            "targets[1].phases.verifies",
            "verify",
        ),
    ],
)
def test_an_unknown_key_is_named_with_the_nearest_valid_one(text: str, key: str, meant: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse(text, PATH)
    assert refused.value.title == "The settings file /settings.toml cannot be used"
    assert refused.value.cause == f"{key} is not a setting."
    assert refused.value.remedy.startswith(f"Did you mean {meant}? Valid here: ")


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ('refresh_hz = "2"', 'refresh_hz: it must be a valid number, not "2".'),
        ("refresh_hz = 0", "refresh_hz: it must be greater than 0, not 0."),
        ("theme = 3", "theme: it must be a valid string, not 3."),
        ('glyphs = "dots"', "glyphs: it must be 'block', 'braille' or 'ascii', not \"dots\"."),
        ("[hosts.gpu]\nreadonly = 1", "hosts.gpu.readonly: it must be a valid boolean, not 1."),
        (
            "[hosts.gpu]\nserver_port = 70000",
            "hosts.gpu.server_port: it must be less than or equal to 65535, not 70000.",
        ),
        ("[hosts.gpu]\nvia = 3", "hosts.gpu.via: it must be a valid array, not 3."),
        ('[hosts.gpu]\nvia = ["docker", 3]', "hosts.gpu.via[2]: it must be a valid string, not 3."),
        ('[hosts.gpu]\nvia = "docker \'x"', 'hosts.gpu.via: its quotes must match, not "docker \'x".'),
        ('[hosts.gpu]\nsudo = "ask"', 'hosts.gpu.sudo: it must be true, false or "auto", not "ask".'),
        ("[hosts.gpu]\nsudo = 1", 'hosts.gpu.sudo: it must be true, false or "auto", not 1.'),
        ("[[presets]]\n", "presets[1].name is missing."),
        (
            '[[presets]]\nname = "a"\nflags = { x = false }',
            'presets[1].flags: x must be text or a number (true for a flag alone), not {"x": false}.',
        ),
        (
            '[[presets]]\nname = "a"\nenv = { X = true }',
            'presets[1].env: X must be text or a number (1 or 0 for a switch), not {"X": true}.',
        ),
        (
            "theme = 3\nrefresh_hz = 0",
            "theme: it must be a valid string, not 3. So many other values cannot be used: 1.",
        ),
    ],
)
def test_a_wrong_value_is_named_with_what_it_must_be(text: str, cause: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse(text, PATH)
    assert refused.value.cause == cause


def test_what_is_no_toml_is_named_by_line() -> None:
    with pytest.raises(ConfigError) as refused:
        parse('theme = "nord"\nrefresh_hz =\n', PATH)
    assert "line 2" in refused.value.cause


def test_the_file_is_where_the_platform_wants_it_unless_a_variable_says_otherwise(
    home_of_its_own: Path,
) -> None:
    assert settings_path({}) == home_of_its_own / ".config" / "specttui" / "config.toml"
    assert settings_path({"SPECTTUI_CONFIG": "~/mine.toml"}) == home_of_its_own / "mine.toml"


def test_without_a_file_everything_has_its_default(home_of_its_own: Path) -> None:
    loaded = load({})
    assert (loaded.settings, loaded.exists) == (Settings(), False)


def test_a_file_that_the_variable_names_must_be_there(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    with pytest.raises(ConfigError, match="does not exist"):
        load({"SPECTTUI_CONFIG": str(path)})
    path.write_text("refresh_hz = 1")
    loaded = load({"SPECTTUI_CONFIG": str(path)})
    assert (loaded.settings.refresh_hz, loaded.path, loaded.exists) == (1.0, path, True)


def test_a_file_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b"theme = '\xff'")
    with pytest.raises(ConfigError, match=r"mine\.toml cannot be used"):
        load({"SPECTTUI_CONFIG": str(path)})

"""The draft's config.json: its layers, sound edits only, and acceptance before, during and after one."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.demo_sessions import connected, options_for
from support.live_demo import until
from support.prompters import ScriptedPrompter

from specttui.demo.host import DemoHost
from specttui.errors import UsageError, WorkerFileError
from specttui.events import Alert, CommandFinished
from specttui.launch.edits import Baseline, SetFlag
from specttui.session.draft_config import MAX_BYTES, change_words, checked, layer_ids
from specttui.session.restoring import restore
from specttui.session.session import Session
from specttui.state.snapshot import Snapshot

IDS = "eagle_config.eagle_aux_hidden_state_layer_ids"
TEXT = '{"a": 1, "eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 29, 57]}}\n'


# The text itself


def test_layers_are_found_wherever_they_stand() -> None:
    assert layer_ids(TEXT) == {IDS: (1, 29, 57)}
    dflash = '{"dflash_config": {"target_layer_ids": [2, 4]}, "layer_ids": [0]}'
    assert layer_ids(dflash) == {"dflash_config.target_layer_ids": (2, 4), "layer_ids": (0,)}
    assert layer_ids("{") == {}
    assert layer_ids('{"layer_types": ["full"]}') == {}


def test_what_is_sound_is_written_as_it_stands() -> None:
    assert checked(TEXT) == TEXT.encode()
    assert checked('{"π": 1}') == '{"π": 1}'.encode()


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ('{"a": 1,}', "Line 1, column 9: Expecting property name enclosed in double quotes"),
        ("[1]", "The configuration is no JSON object"),
        ('{"a": NaN}', "NaN is no JSON"),
        ('{"layer_ids": [1, -1]}', "layer_ids: -1 is no layer"),
        ('{"layer_ids": [true]}', "layer_ids: True is no layer"),
        ('{"x": {"layer_ids": ["1"]}}', "x.layer_ids: '1' is no layer"),
        ('{"a": "' + "x" * MAX_BYTES + '"}', f"The configuration has {MAX_BYTES + 9} bytes"),
    ],
)
def test_what_is_not_sound_is_refused(text: str, title: str) -> None:
    with pytest.raises(UsageError) as refused:
        checked(text)
    assert refused.value.title.removesuffix(": Illegal trailing comma before end of object") == title


def test_an_edit_in_words() -> None:
    assert change_words(TEXT, TEXT.replace("29", "28")) == f"{IDS} [1, 29, 57] -> [1, 28, 57]"
    assert change_words(TEXT, TEXT + "\n") == "76 -> 77 bytes"


# On a host


@pytest.fixture
async def demo() -> AsyncIterator[DemoHost]:
    async with DemoHost(speed=20, steps=2, seed=11) as host:
        await host.wait_ready(60)
        yield host


async def accept_length(session: Session) -> float:
    """The current run's accept length over enough decode lines to tell 1.23 from 1.83."""

    def enough(seen: Snapshot) -> bool:
        current = [run for run in seen.runs if run.current]
        return bool(current) and current[0].samples >= 6 and current[0].accept_len is not None

    seen = await until(session, enough, 120)
    found = next(run.accept_len for run in seen.runs if run.current)
    assert found is not None
    return found


@pytest.mark.long
async def test_wrong_layers_ruin_acceptance_and_restoring_brings_it_back(demo: DemoHost) -> None:
    path = demo.scratch.draft_path / "config.json"
    original, mode = path.read_bytes(), path.stat().st_mode
    async with connected(demo) as (session, events):
        assert await accept_length(session) == pytest.approx(1.83, abs=0.15)
        view = await session.view_draft_config()
        assert (view.path, view.text, view.changed) == (str(path), original.decode(), False)
        assert view.layer_ids == {IDS: (1, 29, 57)}

        config = json.loads(view.text)
        config["eagle_config"]["eagle_aux_hidden_state_layer_ids"] = [0, 28, 56]
        await session.edit_draft_config(json.dumps(config))
        assert session.changes_on_host == (f"The draft's {path} is edited.",)
        finished = [event for event in events if isinstance(event, CommandFinished)][-1]
        assert finished.detail == f"{IDS} [1, 29, 57] -> [0, 28, 56]; takes effect at the next restart (r)"
        await session.restart([])
        assert await accept_length(session) == pytest.approx(1.23, abs=0.1)

        again = await session.view_draft_config()
        assert (again.changed, again.original_sha256) == (True, view.sha256)
        await session.restore_draft_config()
        assert path.read_bytes() == original
        assert path.stat().st_mode == mode
        assert session.changes_on_host == ()
        assert [entry.name for entry in path.parent.iterdir()] == ["config.json"]
        await session.restart([])
        assert await accept_length(session) == pytest.approx(1.83, abs=0.15)


async def test_an_edit_that_is_not_sound_changes_nothing(demo: DemoHost) -> None:
    path = demo.scratch.draft_path / "config.json"
    original = path.read_bytes()
    async with connected(demo) as (session, _):
        with pytest.raises(UsageError, match="Line 1, column 2"):
            await session.edit_draft_config("{")
        await session.edit_draft_config(original.decode())
        assert session.changes_on_host == ()
    assert path.read_bytes() == original
    assert [entry.name for entry in path.parent.iterdir()] == ["config.json"]


async def test_what_a_dead_session_left_is_found_and_restored_with_everything_else(demo: DemoHost) -> None:
    path = demo.scratch.draft_path / "config.json"
    original = path.read_bytes()
    async with connected(demo) as (session, _):
        await session.edit_draft_config(original.decode() + "\n")
    async with connected(demo) as (session, events):
        words = f"The draft's {path} is edited."
        assert session.changes_on_host == (words,)
        told = [event.message for event in events if isinstance(event, Alert)]
        assert f"An earlier session, or another one, left this: {words}" in told
        await session.restore()
        assert session.changes_on_host == ()
    assert path.read_bytes() == original


async def test_the_command_line_restores_it_too(demo: DemoHost) -> None:
    path = demo.scratch.draft_path / "config.json"
    original = path.read_bytes()
    async with connected(demo) as (session, _):
        await session.edit_draft_config(original.decode() + "\n")
    text = await restore(options_for(demo), prompter=ScriptedPrompter())
    assert text.startswith(f"{path}: restored, byte for byte (sha256 ")
    assert path.read_bytes() == original


async def test_a_draft_from_the_hubs_cache_is_found(demo: DemoHost, tmp_path: Path) -> None:
    snapshot = tmp_path / "hub/models--org--draft/snapshots/abc"
    snapshot.mkdir(parents=True)
    (snapshot.parents[1] / "refs").mkdir()
    (snapshot.parents[1] / "refs/main").write_text("abc")
    (snapshot / "config.json").write_text(TEXT)
    async with connected(demo) as (session, _):
        launch = session.launch
        assert launch is not None
        env = {**launch.env, "HF_HUB_CACHE": str(tmp_path / "hub")}
        argv = [str(word) for word in launch.argv]
        argv[argv.index("--speculative-draft-model-path") + 1] = "org/draft"
        session.head.launches.serves(launch.model_copy(update={"argv": tuple(argv), "env": env}))
        assert (await session.view_draft_config()).path == str(snapshot / "config.json")
        argv[argv.index("org/draft")] = "org/other"
        session.head.launches.serves(launch.model_copy(update={"argv": tuple(argv), "env": env}))
        with pytest.raises(WorkerFileError, match="draft model org/other was not found"):
            await session.view_draft_config()


async def test_after_a_baseline_the_last_draft_is_meant(demo: DemoHost) -> None:
    async with connected(demo) as (session, _):
        await session.restart([Baseline()])
        assert (await session.view_draft_config()).layer_ids == {IDS: (1, 29, 57)}
        await session.restart([SetFlag("--speculative-num-steps", "2")])

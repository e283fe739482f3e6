from dataclasses import replace

import pytest
from support.scripted_session import ScriptedSession
from support.scripted_snapshots import connected, empty, serving, starting

from specttui.ui.availability import Facts, command_state, facts

ALL = Facts(
    connected=True, launch_known=True, worker_known=True, serving=True, patched=True,
    probe_loaded=True, can_roll_back=True, changes=True,
)  # fmt: skip
HOST_COMMANDS = ["back_up", "patch", "restart", "restore", "roll_back", "load", "clock"]


def states(known):
    return {name: command_state(name, known) for name in [*HOST_COMMANDS, "export", "note", "rediscover"]}


def test_a_patched_serving_host():
    assert states(ALL) == {
        "back_up": True, "patch": None, "restart": True, "restore": True, "roll_back": True, "load": True,
        "clock": True, "export": True, "note": True, "rediscover": True,
    }  # fmt: skip


@pytest.mark.parametrize("name", HOST_COMMANDS)
def test_readonly_and_replay_remove_what_changes_the_host(name):
    assert command_state(name, replace(ALL, readonly=True)) is False
    assert command_state(name, replace(ALL, replay=True)) is False


def test_readonly_keeps_export_and_note_replay_only_export():
    assert command_state("note", replace(ALL, readonly=True)) is True
    assert command_state("note", replace(ALL, replay=True)) is False
    assert command_state("export", replace(ALL, replay=True)) is True


def test_while_a_command_runs_all_others_are_greyed_out():
    assert set(states(replace(ALL, busy=True)).values()) == {None}


def test_without_a_connection_host_commands_are_greyed_out():
    down = states(replace(ALL, connected=False))
    assert {down[name] for name in HOST_COMMANDS} == {None}
    assert down["rediscover"] is True
    assert down["export"] is True


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("back_up", {"worker_known": False}),
        ("restore", {"patched": False, "changes": False}),
        ("draft_config", {"draft_known": False}),
        ("restart", {"launch_known": False}),
        ("load", {"serving": False}),
        ("clock", {"probe_loaded": False}),
    ],
)
def test_what_a_command_needs(name, missing):
    assert command_state(name, replace(ALL, **missing)) is None


def test_restore_is_there_for_whatever_was_changed():
    assert command_state("restore", replace(ALL, patched=False)) is True


def test_roll_back_is_hidden_without_a_last_good_configuration():
    assert command_state("roll_back", replace(ALL, can_roll_back=False)) is False


def test_facts_of_the_scripted_states():
    session = ScriptedSession(patched=True, can_roll_back=True)
    assert facts(session, serving(), replay=False, busy=False) == ALL
    fresh = facts(ScriptedSession(), connected(), replay=False, busy=False)
    assert (fresh.patched, fresh.worker_known, fresh.probe_loaded) == (False, True, False)
    loading = facts(ScriptedSession(), starting(), replay=False, busy=False)
    assert (loading.busy, loading.starting) == (True, True)
    assert not facts(ScriptedSession(), starting(), replay=True, busy=False).starting
    edited = facts(
        ScriptedSession(other_changes=["The draft is edited."]), connected(), replay=False, busy=False
    )
    assert (edited.patched, edited.changes) == (False, True)
    nothing = facts(ScriptedSession(launch=None), empty(), replay=False, busy=False)
    assert nothing == Facts()

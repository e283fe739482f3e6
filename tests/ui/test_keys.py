from textual.binding import Binding

from specttui.ui.availability import Facts, command_state
from specttui.ui.flows import FLOWS
from specttui.ui.keys import KEY_BY_ID, KEYS, app_bindings, main_bindings
from specttui.ui.screens.help import help_lines


def test_ids_and_keys_are_unique():
    assert len(KEY_BY_ID) == len(KEYS)
    every = [key for entry in KEYS for key in entry.keys.split(",")]
    assert len(every) == len(set(every))


def test_every_command_has_a_flow_and_every_flow_a_key():
    assert {key.id for key in KEYS if key.is_command} == set(FLOWS)


def test_every_binding_has_an_id_and_a_tooltip():
    bindings = [*main_bindings(), *app_bindings()]
    assert all(isinstance(binding, Binding) and binding.id and binding.tooltip for binding in bindings)


def test_there_are_two_ways_to_quit_one_without_ctrl_and_both_are_shown():
    quits = [key for key in KEYS if key.action == "app.request_quit"]
    assert {key.keys for key in quits} == {"q", "ctrl+q"}
    assert KEY_BY_ID["quit"].rank == 0
    shown = "\n".join(line.plain for line in help_lines({}, 80))
    assert "  q        quit" in shown
    assert "  ctrl+q   quit" in shown


def test_help_holds_every_key_and_fits_its_width():
    lines = help_lines({"restart": "F9"}, 76)
    assert max(line.cell_length for line in lines) <= 76
    shown = "\n".join(line.plain for line in lines)
    assert "  F9       restart" in shown
    assert all(key.label in shown for key in KEYS)
    assert "reset" in shown


def test_all_commands_have_a_state():
    for key in KEYS:
        if key.is_command:
            assert command_state(key.id, Facts(connected=True)) in {True, None, False}

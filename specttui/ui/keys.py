"""Every key as data: the bindings, the footer, the help and the command palette are made from this table."""

from __future__ import annotations

from dataclasses import dataclass

from textual.binding import Binding, BindingType


@dataclass(frozen=True, slots=True)
class Key:
    """One command: how it is reached and what it says about itself.

    Attributes:
        id: Its stable name, by which a keymap can give it another key.
        keys: The key, or keys separated by commas.
        action: The Textual action.
        label: Its word in the footer.
        tooltip: One sentence for the help and the palette.
        group: Its heading in the help.
        rank: Its place in the footer when room is short, lowest first; None keeps it out of the footer.
        changes_host: True when it changes something on the host or sends it requests.
        is_command: True when it works through the session, which does one thing at a time.
    """

    id: str
    keys: str
    action: str
    label: str
    tooltip: str
    group: str
    rank: int | None = None
    changes_host: bool = False
    is_command: bool = False


def _command(
    name: str, key: str, label: str, tooltip: str, group: str, rank: int, *, changes_host: bool = True
) -> Key:
    return Key(name, key, f"command('{name}')", label, tooltip, group, rank, changes_host, is_command=True)


HOST, SESSION, VIEW, PROGRAM = "The host", "The session", "The view", "The program"

#: In the footer's order.
KEYS: tuple[Key, ...] = (
    _command("back_up", "b", "back up", "Copy the worker file to the host and here.", HOST, 3),
    _command("patch", "p", "patch", "See the probe's diff, then add it.", HOST, 2),
    _command("restart", "r", "restart", "Restart the server with other settings.", HOST, 1),
    _command("restore", "x", "restore", "Bring the original of all we changed back.", HOST, 4),
    Key("draft_config", "d", "command('draft_config')", "draft config",
        "View, edit or restore the draft model's config.json.", HOST, changes_host=True, is_command=True),
    _command("roll_back", "u", "last good", "Start the last configuration that became ready.", HOST, 2),
    _command("load", "l", "load", "Send prompts to the server at a set concurrency.", HOST, 8),
    _command("clock", "k", "clock", "Switch the probe's clock, or switch it off.", HOST, 11),
    _command("cost", "m", "probe cost", "Measure what the probe costs: off and on in turn.", HOST, 15),
    _command("rediscover", "f5", "look again", "Look for the server again.", HOST, 14, changes_host=False),
    _command("export", "e", "export", "Write the session as markdown.", SESSION, 5, changes_host=False),
    _command("note", "n", "note", "Put a note into the report.", SESSION, 12, changes_host=False),
    Key("cancel", "ctrl+x", "cancel_command", "cancel", "Cancel the command in progress.", SESSION, 0),
    Key("wait_longer", "w", "wait_longer", "wait more", "Give a starting server 10 min more.", HOST, 1),
    Key("timeline", "t", "timeline", "timeline", "Any metric over the whole session.", VIEW, 10),
    Key("filter", "slash", "filter_log", "log", "Show only log lines that hold a text.", VIEW, 9),
    Key("pause", "space", "pause", "pause", "Freeze the screen; the recording goes on.", VIEW, 6),
    Key("maximise_1", "1", "maximise('throughput')", "throughput", "Throughput alone.", VIEW),
    Key("maximise_2", "2", "maximise('accept')", "accept length", "Accept length alone.", VIEW),
    Key("maximise_3", "3", "maximise('cycle')", "cycle", "The cycle breakdown alone.", VIEW),
    Key("maximise_4", "4", "maximise('runs')", "runs", "The runs table alone.", VIEW),
    Key("maximise_5", "5", "maximise('log')", "log alone", "The log alone.", VIEW),
    Key("back", "escape", "back", "return", "Out of a panel or the filter; else cancel.", VIEW),
    Key("help", "question_mark,f1", "help", "help", "All keys, and where to read on.", PROGRAM, 0),
    Key("palette", "ctrl+p", "app.command_palette", "palette", "Search all commands.", PROGRAM),
    Key("quit", "q", "app.request_quit", "quit", "Leave; asks while something of ours stays.", PROGRAM, 0),
    Key("quit_ctrl_q", "ctrl+q", "app.request_quit", "quit", "The same, also while typing.", PROGRAM),
    Key("quit_ctrl_c", "ctrl+c", "app.interrupt", "copy or quit", "Copy the selection, else quit.", PROGRAM),
)  # fmt: skip

#: The commands by their id.
KEY_BY_ID = {key.id: key for key in KEYS}

_APP_KEYS = {"quit_ctrl_q", "quit_ctrl_c"}
#: Bound by Textual itself.
_TEXTUAL_KEYS = {"palette"}


def main_bindings() -> list[BindingType]:
    """The bindings of the main screen."""
    return [_binding(key) for key in KEYS if key.id not in _APP_KEYS | _TEXTUAL_KEYS]


def app_bindings() -> list[BindingType]:
    """The bindings that work everywhere, dialogs and text fields included."""
    return [_binding(key, priority=True) for key in KEYS if key.id in _APP_KEYS]


def _binding(key: Key, *, priority: bool = False) -> Binding:
    return Binding(
        key.keys,
        key.action,
        key.label,
        show=key.rank is not None,
        tooltip=key.tooltip,
        id=key.id,
        priority=priority,
        group=Binding.Group(key.group),
    )

from specttui.state.snapshot import CommandView
from specttui.ui.render.footer import FooterKey, command_line, footer_line

KEYS = [
    FooterKey("b", "back up", "screen.command('back_up')", 3),
    FooterKey("p", "patch", "screen.command('patch')", 2, enabled=False),
    FooterKey("space", "pause", "screen.pause", 6),
    FooterKey("?", "help", "screen.help", 0),
    FooterKey("q", "quit", "app.request_quit", 0),
]


def test_all_keys_in_their_order_where_there_is_room():
    assert footer_line(KEYS, 80).plain == "b back up  p patch  space pause  ? help  q quit"


def test_greyed_out_ones_give_way_first_then_the_least_important():
    assert footer_line(KEYS, 40).plain == "b back up  space pause  ? help  q quit"
    assert footer_line(KEYS, 28).plain == "b back up  ? help  q quit"
    assert footer_line(KEYS, 15).plain == "? help  q quit"


def test_keys_can_be_clicked_unless_greyed_out():
    actions = [
        span.style.meta["@click"] for span in footer_line(KEYS, 80).spans if not isinstance(span.style, str)
    ]
    assert actions == ["screen.command('back_up')", "screen.pause", "screen.help", "app.request_quit"]


def test_command_in_progress_with_the_keys_that_apply():
    command = CommandView("restart", "steps 2 [LL]", "running")
    keys = [FooterKey("^x", "cancel", "screen.cancel_command", 0), *KEYS[3:]]
    assert command_line(command, keys, 60).plain == (
        "> restart  steps 2 [LL]            ^x cancel  ? help  q quit"
    )

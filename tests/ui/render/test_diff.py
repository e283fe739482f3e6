from support.scripted_snapshots import LAUNCH

from specttui.launch.change import apply
from specttui.launch.diff import describe
from specttui.launch.edits import DiffLine, LaunchDiff, SetFlag
from specttui.ui.render.diff import launch_lines, unified_lines


def shown(diff, width=60):
    return [line.plain for line in launch_lines(diff, width)]


def test_a_real_change_shows_before_and_after():
    lines = shown(describe(LAUNCH, apply(LAUNCH, [SetFlag("--speculative-num-steps", "5")])))
    assert "* steps 2 -> 5" in lines
    assert "- --speculative-num-steps 2" in lines
    assert "+ --speculative-num-steps 5" in lines
    assert "  --model-path /models/Kimi-K2.5" in lines


def test_no_change_is_said():
    assert shown(describe(LAUNCH, LAUNCH))[0] == "Nothing changes: the same command is started again."


def test_warnings_notes_and_long_texts():
    diff = LaunchDiff(
        LAUNCH,
        LAUNCH,
        (DiffLine("add", "--x [y] " + "z" * 10),),
        ("one",),
        ("a note",),
        ("a warning that is long",),
    )
    assert shown(diff, 16) == [
        "* one",
        "! a warning that",
        "  is long",
        "  a note",
        "",
        "+ --x [y]",
        "  zzzzzzzzzz",
    ]


def test_unified_diff_lines_stay_as_they_are():
    given = ["--- a\n", "+++ b\n", "@@ -1 +1,2 @@\n", " x [bold]\n", "+\ty [/bold]\n"]
    assert [line.plain for line in unified_lines(given)] == [
        "--- a", "+++ b", "@@ -1 +1,2 @@", " x [bold]", "+ y [/bold]",
    ]  # fmt: skip
    assert [span.style for line in unified_lines(given) for span in line.spans] == [
        "$foreground-muted", "$foreground-muted", "$foreground-muted", "$foreground", "$text-success",
    ]  # fmt: skip

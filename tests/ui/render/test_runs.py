from dataclasses import replace

from support.scripted_snapshots import connected, runs, serving

from specttui.ui.render.panel import Space
from specttui.ui.render.runs import runs_panel, visible_runs

SPACE = Space(78, 5)


def shown(snapshot, space=SPACE):
    return runs_panel(snapshot, space).fill(space).plain.split("\n")


def test_the_table_at_80_columns():
    assert shown(serving()) == [
        "RUNS                                    tok/s accept  cycle verify vs baseline",
        "   1  baseline                      88.8 ±0.3      -  11.26      -           -",
        "   2  steps 5                       71.0 ±0.3   2.12  29.86  28.70     -20.0 %",
        "   3  steps 2                       70.7 ±0.3   1.83  25.92  25.28     -20.4 %",
        ">  4  steps 2, LL                   94.1 ±0.3   1.83  19.48  18.84      +6.0 %",
    ]


def test_more_columns_where_there_is_room():
    space = Space(196, 6, framed=True)
    lines = shown(serving(), space)
    assert " ".join(lines[0].split()) == (
        "# configuration tok/s per request accept cycle verify draft extend other batch cycles source clock"
        " vs baseline"
    )
    assert " ".join(lines[4].split()) == (
        "> 4 steps 2, LL 94.1 ±0.3 94.1 1.83 19.48 18.84 0.35 0.29 0.01 1.0 6120 probe events +6.0 %"
    )
    assert {len(line) for line in lines} == {196}


def test_noise_and_warm_up_are_marked():
    rows = list(runs())
    rows[1] = replace(rows[1], significant=False)
    rows[3] = replace(rows[3], warming_up=True)
    lines = shown(replace(serving(), runs=tuple(rows)))
    assert lines[2].endswith("   ~ -20.0 %")
    assert lines[4].endswith("  warming up")


def test_where_rows_are_short_current_baseline_and_newest_stay():
    many = tuple(
        replace(runs()[1], run_id=number, current=number == 3, is_baseline=number == 1)
        for number in range(1, 11)
    )
    kept, hidden = visible_runs(many, 4)
    assert [run.run_id for run in kept] == [1, 3, 9, 10]
    assert hidden == 6
    assert "6 more, press 4" in shown(replace(serving(), runs=many))[0]


def test_no_runs_yet():
    assert shown(connected())[1] == "A run begins when the server has served its first tokens."


def test_labels_with_brackets_stay_as_they_are():
    rows = (replace(runs()[0], label="[red]LL[/]"),)
    assert "[red]LL[/]" in shown(replace(serving(), runs=rows))[1]

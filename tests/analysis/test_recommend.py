import pytest

from specttui.analysis.acceptance import accept_len_of
from specttui.analysis.recommend import best_steps, recommend
from specttui.analysis.stats import Estimate
from specttui.analysis.step_model import StepRun, fit

B04 = {
    1: (162, 188, 195, 199, 199, 188),
    2: (289, 332, 332, 333, 331, 311),
    4: (528, 568, 572, 572, 569, 549),
    8: (823, 903, 896, 911, 905, 883),
    16: (1268, 1451, 1531, 1537, 1464, 1413),
    32: (2143, 2297, 2352, 2348, 2316, 2239),
    64: (3353, 3693, 3555, 3400, 3222, 3054),
}


@pytest.mark.parametrize(
    ("batch", "ties"),
    [
        (1, (4, 5)),
        (2, (2, 3, 4, 5)),
        (4, (2, 3, 4, 5)),
        (8, (2, 4, 5)),
        (16, (3, 4)),
        (32, (3, 4)),
        (64, (2,)),
    ],
)
def test_b04_ties_are_ties_at_each_batch_size(batch, ties):
    assert best_steps(dict(enumerate(B04[batch], start=1))) == ties


@pytest.mark.parametrize(
    ("batch", "best"), [(1, (4, 5)), (2, (4,)), (4, (3, 4)), (8, (4,)), (16, (4,)), (32, (3,)), (64, (2,))]
)
def test_b04_the_best_of_all(batch, best):
    assert best_steps(dict(enumerate(B04[batch], start=1)), tie=0) == best


def test_no_measurements_no_best():
    assert best_steps({}) == ()


def mission(k, factor=1.0):
    cycle = 0.174 * k + factor * (21.86 + 1.14 * (k + 1)) + 0.29
    return StepRun(k, cycle, accept_len_of(0.54, k), cycle_error=0.004)


def test_the_missions_first_answer_is_the_baseline():
    found = recommend(fit([mission(5), mission(2)]), range(1, 8), baseline=Estimate(88.8, 88.4, 89.2))
    assert (found.num_steps, found.ties, found.measured, found.gain) == (0, (0,), True, 0.0)
    assert found.text == "Best at batch 1: baseline, 88.8 tok/s measured."


def test_the_missions_second_answer_is_2_steps_with_ll():
    model = fit([mission(2, 0.745), mission(5, 0.745 + 0.04 * 3)])
    found = recommend(model, range(1, 7), baseline=Estimate(88.8, 88.4, 89.2), current_steps=5)
    assert (found.num_steps, found.measured) == (2, True)
    assert found.throughput_tok_s.value == pytest.approx(94.1, abs=0.06)
    assert found.gain == pytest.approx(94.1 / 81.6 - 1, abs=0.001)
    assert 2 in found.ties
    assert 0 not in found.ties
    assert found.text.startswith("Best at batch 1: steps 2, 94.1 tok/s measured (+15.3 %)")


def test_ties_are_named():
    model = fit([StepRun(2, 10, 2.0), StepRun(4, 12, 2.4)])
    found = recommend(model, [2, 3, 4], running=4)
    assert found.num_steps == 3
    assert (found.ties, found.gain) == ((2, 3, 4), None)
    assert found.text.startswith("Best at batch 4: steps 3, ")
    assert found.text.endswith(" predicted; 2 and 4 cannot be told from it.")


def test_what_would_prove_it_wrong():
    model = fit([StepRun(1, 10, 1.7), StepRun(2, 10.2, 2.2)])
    found = recommend(model, [1, 2, 4])
    assert (found.num_steps, found.measured) == (4, False)
    assert found.wrong_if == (
        "the load differs: another batch size or context length moves both costs and acceptance",
        "acceptance or cost at 4 steps does not follow the runs at 1 and 2",
        "verify grows faster with its tokens than between the measured runs, as it often does",
    )
    bent = fit([StepRun(1, 10, 1.7), StepRun(2, 10.2, 2.2), StepRun(3, 13, 2.4)])
    assert recommend(bent, [2]).wrong_if[-1] == (
        "the measured cycle times lie off a line by more than 3 %: a cost changes with the steps"
    )


def test_nothing_to_choose_from():
    with pytest.raises(ValueError):
        recommend(fit([StepRun(1, 10, 1.7), StepRun(2, 10.2, 2.2)]), [])

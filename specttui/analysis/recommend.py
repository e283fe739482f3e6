"""Which step count to use: the best measured or predicted one, its ties, and what could prove it wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from specttui.analysis.stats import Interval, differ
from specttui.analysis.step_model import StepModel, misfit

#: Measured throughputs this close are a tie where no intervals are given: servers swing by about as much.
TIE = 0.01
#: A run further than this from the fitted line says that the costs are no line.
_BENT = 0.03


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The step count to try. `num_steps` 0 is decoding without speculation.

    `ties` holds all counts that cannot be told from the best, the best included; `gain` is the expected
    throughput against the current or baseline figure, a ratio minus 1, None without one; `wrong_if` says
    what would have to be true for this to be wrong; `measured` whether the best was run or is predicted.
    """

    num_steps: int
    throughput_tok_s: Interval
    ties: tuple[int, ...]
    measured: bool
    gain: float | None
    wrong_if: tuple[str, ...]
    text: str


def best_steps(throughput_tok_s: Mapping[int, float], tie: float = TIE) -> tuple[int, ...]:
    """All step counts whose measured throughput is within a tie of the best, ascending."""
    if not throughput_tok_s:
        return ()
    best = max(throughput_tok_s.values())
    return tuple(sorted(k for k, value in throughput_tok_s.items() if value >= best * (1 - tie)))


def recommend(
    model: StepModel,
    candidates: Sequence[int],
    *,
    running: float = 1.0,
    baseline: Interval | None = None,
    current_steps: int | None = None,
) -> Recommendation:
    """Choose a step count.

    Args:
        model: Costs fitted at one load.
        candidates: Step counts to consider, at least one, all at least 1.
        running: Requests decoding at once in the model's runs.
        baseline: Server throughput without speculation at the same load, which is a candidate too (0).
        current_steps: What runs now; the gain is against it, else against the baseline.

    Raises:
        ValueError: There are no candidates.
    """
    if not candidates:
        raise ValueError("nothing to choose from")
    predicted: dict[int, Interval] = {k: model.predict(k, running=running) for k in sorted(set(candidates))}
    if baseline is not None:
        predicted[0] = baseline
    best = max(predicted, key=lambda k: predicted[k].value)
    ties = tuple(sorted(k for k, each in predicted.items() if not differ(each, predicted[best])))
    reference = model.predict(current_steps, running=running) if current_steps else baseline
    gain = predicted[best].value / reference.value - 1 if reference else None
    measured = best == 0 or any(run.num_steps == best for run in model.runs)
    wrong_if = _wrong_if(model, best, measured=measured)
    text = _text(best, predicted[best], ties, gain, running=running, measured=measured)
    return Recommendation(best, predicted[best], ties, measured, gain, wrong_if, text)


def _wrong_if(model: StepModel, best: int, *, measured: bool) -> tuple[str, ...]:
    steps = [run.num_steps for run in model.runs]
    found = ["the load differs: another batch size or context length moves both costs and acceptance"]
    if not measured:
        found.append(f"acceptance or cost at {best} steps does not follow the runs at {_listed(steps)}")
    if best > max(steps):
        found.append("verify grows faster with its tokens than between the measured runs, as it often does")
    if any(abs(misfit(model, run)) > _BENT for run in model.runs):
        found.append(
            "the measured cycle times lie off a line by more than 3 %: a cost changes with the steps"
        )
    return tuple(found)


def _text(
    best: int, value: Interval, ties: tuple[int, ...], gain: float | None, *, running: float, measured: bool
) -> str:
    what = "baseline" if best == 0 else f"steps {best}"
    how = "measured" if measured else "predicted"
    text = f"Best at batch {running:g}: {what}, {value.value:.1f} tok/s {how}"
    if gain is not None and abs(gain) >= TIE:
        text += f" ({100 * gain:+.1f} %)"
    others = [k for k in ties if k != best]
    return f"{text}; {_listed(others)} cannot be told from it." if others else f"{text}."


def _listed(steps: Sequence[int]) -> str:
    names = ["baseline" if k == 0 else str(k) for k in dict.fromkeys(steps)]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]

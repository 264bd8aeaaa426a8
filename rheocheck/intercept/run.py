"""One run of a subject: which way its random choices fall, and the probability that they do.

A run follows a script of choices made before, checking that the subject asks the same questions again, and takes
the likeliest branch where the script ends; the branches not taken are left for later runs (`search`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from numpy.typing import NDArray

from rheocheck.core.errors import InputError, NotUnderstood
from rheocheck.intercept.complaints import NotProbabilities
from rheocheck.intercept.errors import caller, line, refusal
from rheocheck.intercept.uniform import Uniform

BITS = 192  # probabilities are kept to so many binary places: their sums stay short, and 1e-57 is no bias
SAME = 1e-6  # weights of one choice in two runs may differ by rounding
MAX_CHOICES = 10_000  # in one run
MAX_OUTCOMES = 4_096  # of one choice


@dataclass(frozen=True)
class Choice:
    """A random choice of a run: branch `index` of `outcomes`, taken with probability `weight`.

    line, caller  where it was made, and what called the function of that line; None where that is the subject
    uniform       the number of the uniform that was asked, where it was one of the program's own
    """

    index: int
    outcomes: int
    weight: Fraction
    what: str
    line: str
    caller: str | None = None
    uniform: int | None = None


@dataclass(frozen=True)
class Step:
    """A choice as a script holds it; `parent` is the one before. Scripts share their beginnings."""

    parent: "Step | None"
    index: int
    weights: tuple[Fraction, ...]
    line: str
    what: str
    caller: str | None = None
    uniform: int | None = None

    def choice(self) -> Choice:
        """The choice for people."""
        weight = self.weights[self.index]
        return Choice(self.index, len(self.weights), weight, self.what, self.line, self.caller, self.uniform)

    def script(self) -> list["Step"]:
        """All steps from the first to this one."""
        steps: list[Step] = []
        step: Step | None = self
        while step is not None:
            steps.append(step)
            step = step.parent
        return steps[::-1]


class Run:
    """The choices of one run.

    weight     probability of the choices made so far
    untried    (probability, step) of each branch not taken
    choices    those made, for people
    null       a description of the event of probability zero that this run is about, if it is about one
    """

    def __init__(self, last: Step | None = None, forced: tuple[int, ...] = ()) -> None:
        self._script = [] if last is None else last.script()
        self._forced = forced
        self._step: Step | None = None
        self._uniforms = 0
        self.weight = Fraction(1)
        self.untried: list[tuple[Fraction, Step]] = []
        self.choices: list[Choice] = []
        self.null: Choice | None = None

    def uniform(self) -> Uniform:
        """A new uniform."""
        self._uniforms += 1
        return Uniform(self, self._uniforms)

    def choose(
        self,
        weights: Sequence[Fraction],
        what: Callable[[int], str],
        null: Sequence[int] = (),
        uniform: int | None = None,
    ) -> int:
        """A branch by weights that sum to 1. The branches `null` have weight 0 and are visited all the same."""
        open_ = [i for i, w in enumerate(weights) if w > 0]
        if self.null is not None and open_:  # one event of probability zero at a time
            null = ()
        if len(open_) > MAX_OUTCOMES:
            raise refusal(
                f"an exact audit must choose among at most {MAX_OUTCOMES} outcomes, got {len(open_)} at {line()}: "
                "audit a smaller vocabulary, or by sampling"
            )
        if len(open_) + len(null) == 1:
            return (*open_, *null)[0]
        where, at = line(), len(self.choices)
        if at < len(self._script):
            step = self._script[at]
            self._check(step, weights, where)
        else:
            index = max(open_ or null, key=lambda i: weights[i])
            if at < len(self._forced):
                index = self._forced_index(at, {*open_, *null}, where)
            outer, kept = caller(), tuple(weights)
            step = Step(self._step, index, kept, where, what(index), outer, uniform)
            self.untried += [
                (rounded(self.weight * weights[i]), Step(self._step, i, kept, where, what(i), outer, uniform))
                for i in sorted({*open_, *null} - {index})
            ]
        self._step = step
        weight = step.weights[step.index]
        self.weight = rounded(self.weight * weight)
        self.choices.append(step.choice())
        if not weight and self.null is None:
            self.null = self.choices[-1]
        if len(self.choices) > MAX_CHOICES:
            raise InputError(
                f"a run must make at most {MAX_CHOICES} random choices, got more at {where}: does the subject end?"
            )
        return step.index

    def finish(self) -> None:
        """Check that the script was followed to its end."""
        if len(self.choices) < len(self._forced):
            raise InputError(
                f"the choices must be at most the {len(self.choices)} that the run makes, got {len(self._forced)}: "
                "copy them from a report"
            )
        if len(self.choices) < len(self._script):
            step = self._script[len(self.choices)]
            raise _changed(f"no choice any more where one was made at {step.line}")

    def _forced_index(self, at: int, possible: set[int], where: str) -> int:
        index = self._forced[at]
        if index not in possible:
            raise InputError(
                f"choice {at + 1} must be one of {sorted(possible)[:20]} at {where}, got {index}: copy the "
                "choices from a report"
            )
        return index

    @property
    def last(self) -> Step | None:
        """The last choice, which stands for all of them."""
        return self._step

    def _check(self, step: Step, weights: Sequence[Fraction], where: str) -> None:
        if step.line != where:
            raise _changed(f"a choice at {where} where one was made at {step.line}")
        if len(step.weights) != len(weights):
            raise _changed(f"{len(weights)} outcomes at {where} where there were {len(step.weights)}")
        error = max(abs(a - b) for a, b in zip(step.weights, weights, strict=True))
        if error > SAME:
            raise _changed(f"probabilities at {where} that differ by {float(error):.2g} from those of an earlier run")


def _changed(what: str) -> NotUnderstood:
    return refusal(
        "a subject must do the same when its random choices fall the same way, got "
        f"{what}: it keeps state between calls, or draws randomness that is not seen; build everything inside the call"
    )


def rounded(weight: Fraction) -> Fraction:
    """A probability to so many binary places."""
    return Fraction(round(weight * 2**BITS), 2**BITS)


def shares(weights: Sequence[Any] | NDArray[Any]) -> list[Fraction]:
    """Weights as probabilities. Raises as samplers do on what is no weight."""
    values = [float(w) for w in weights] if not all(isinstance(w, Fraction) for w in weights) else weights
    if not all(0 <= w < float("inf") for w in values):
        raise NotProbabilities("probabilities contain infinity, NaN or a negative number")
    exact = [Fraction(w) for w in values]
    total = sum(exact)
    if not total:
        raise NotProbabilities("probabilities sum to 0")
    return [w / total for w in exact]

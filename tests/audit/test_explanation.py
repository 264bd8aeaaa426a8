"""The shown path leads through the fault, its steps name callers, and noise that decided two things is told."""

import inspect
import math
from fractions import Fraction

import pytest

from rheocheck.audit.difference import Difference
from rheocheck.audit.exact import RESCALED, exact_audit
from rheocheck.audit.exact_witness import unexplained_path
from rheocheck.audit.verdict import Witness
from rheocheck.core.errors import InputError
from rheocheck.intercept import Enumeration, NotUnderstood, enumerate_law, lazy, replay, uniform
from rheocheck.intercept.run import Step
from rheocheck.report.audit_text import audit_text
from tests.audit import explained

TARGETS = {3: lambda context: explained.p, 4: lambda context: explained.P}


def line_of(subject, comment):
    lines, first = inspect.getsourcelines(subject)
    (offset,) = [i for i, text in enumerate(lines) if text.rstrip().endswith(f"# {comment}")]
    return f"explained.py:{first + offset}"


def audited(subject, size, **more):
    return exact_audit(subject, target=TARGETS[size], tokens=1, plain_runs=200, **more)


@pytest.mark.parametrize(
    "subject",
    [explained.helper_line, explained.helper_of_a_helper, explained.numpy_residual, explained.torch_residual],
    ids=lambda subject: subject.__name__,
)
def test_the_path_goes_through_the_wrong_residual(subject):
    """The witness's heavy path is an accepted draft, which the target explains: the replacement is what it does not."""
    verdict = audited(subject, 3)
    assert verdict.verdict == "biased" and verdict.path.word[0] == verdict.witness.token
    last = verdict.path.choices[-1]
    assert line_of(subject, "wrong residual") in (last.line, last.caller)
    assert verdict.path.weight < verdict.witness.emitted
    replayed = replay(subject, [step.index for step in verdict.path.choices], tokens=1)
    assert (replayed.word, float(replayed.weight)) == (verdict.path.word, verdict.path.weight)


def test_a_step_of_a_helper_names_its_caller():
    steps = audited(explained.helper_line, 3).path.choices
    first, helper = inspect.getsourcelines(explained.helper_line)[1], inspect.getsourcelines(explained.pick)[1] + 1
    places = [(step.line, step.caller) for step in steps]
    assert places == [
        (f"explained.py:{helper}", f"explained.py:{first + 2}"),
        (f"explained.py:{first + 3}", None),
        (f"explained.py:{helper}", line_of(explained.helper_line, "wrong residual")),
    ]
    text = audit_text(audited(explained.helper_line, 3))
    assert f"(explained.py:{helper}, called from {places[2][1]})" in text


@pytest.mark.parametrize(
    "subject",
    [explained.one_coin, explained.one_numpy_coin, explained.one_torch_coin, explained.one_coin_by_helper],
    ids=lambda subject: subject.__name__,
)
def test_a_reused_coin_is_shown_and_told(subject):
    verdict = audited(subject, 4)
    assert verdict.verdict == "biased"
    (told,) = verdict.path.reuses
    first, second = line_of(subject, "first use"), line_of(subject, "second use")
    assert told.startswith("uniform ") and " decided two things: " in told
    assert told.index(first) < told.index(second)
    assert f"; {told}" in audit_text(verdict)
    assert [note for note in verdict.notes if "decided two things" in note and note.endswith(RESCALED)]


def test_a_rescaled_coin_is_a_note_and_no_verdict():
    verdict = audited(explained.rescaled, 4)
    assert verdict.verdict == "no_bias_found"
    first, second = (line_of(explained.rescaled, f"{which} use") for which in ("first", "second"))
    (note,) = verdict.notes
    assert note.endswith(f" decided two things: {first}, {second}; {RESCALED}")


@pytest.mark.parametrize("subject", [explained.walk, explained.two_coins], ids=lambda subject: subject.__name__)
def test_one_decision_is_no_reuse(subject):
    verdict = audited(subject, 4)
    assert (verdict.verdict, verdict.notes) == ("no_bias_found", ())


def ending(*weights):
    step = None
    for weight in weights:
        step = Step(step, 0, (Fraction(weight), 1 - Fraction(weight)), "d.py:1", "x")
    return step


def test_the_target_explains_the_shortest_paths_first():
    """1/4 by one choice and 1/8, 1/4 by two: a target of 1/4 explains the first, and the heavier of the others is it.
    One of 0.6 explains all but 1/40 of the lightest, which comes last."""
    endings = [ending("1/2", "1/4"), ending("1/4"), ending("1/2", "1/2")]
    emitted = {(0,): 0.625, (1,): 0.375}
    found = Enumeration({(0,): Fraction(5, 8)}, Fraction(0), 3, None, 0.0, {(0,): endings}, ())

    class Cells:
        def cell(self, word):
            return word

    for target, last in ((0.25, endings[2]), (0.6, endings[0])):
        seen = Difference(emitted, {(0,): target, (1,): 1 - target}, 0.0, 0.0)
        path = unexplained_path(found, Cells(), seen, Witness((), 0, 0.625, target))
        assert path.weight == math.prod(step.weights[0] for step in last.script())


def test_every_path_of_an_enumeration_is_kept():
    found = enumerate_law(explained.one_coin, tokens=1)
    assert sum(len(endings) for endings in found.endings.values()) == found.paths
    assert sum(math.prod(s.weights[s.index] for s in e.script()) for es in found.endings.values() for e in es) == (
        pytest.approx(1)
    )


# exceptions


def test_an_exception_of_the_subject_keeps_its_type_line_and_choices():
    with pytest.raises(InputError) as caught:
        enumerate_law(explained.crashing, tokens=1)
    assert not isinstance(caught.value, NotUnderstood)
    line = line_of(explained.crashing, "crash")
    assert f"it raised KeyError at {line}: 'no such row'; its random choices were --replay 0,2: " in str(caught.value)
    assert isinstance(caught.value.__cause__, KeyError)
    with pytest.raises(InputError, match=f"KeyError at {line}"):
        replay(explained.crashing, [0, 2], tokens=1)
    assert replay(explained.crashing, [0, 1], tokens=1).word == (0,)


def test_a_crash_of_interception_is_never_blamed_on_the_subject(monkeypatch):
    """A stand-in that breaks within what a coin reaches."""
    monkeypatch.setattr(uniform.Uniform, "cells", lambda *a: lazy._flat("x", [1]))
    with pytest.raises(NotUnderstood, match=r"got a fault of rheocheck itself, .* please report it") as caught:
        enumerate_law(explained.two_coins, tokens=1)
    assert "--method sampled" in str(caught.value)


@pytest.mark.parametrize("error", [TypeError("unsupported"), AssertionError("races"), IndexError("range")])
def test_a_crash_of_the_subject_is_not_blamed_on_interception(error):
    def subject(context, n):
        raise error

    with pytest.raises(InputError, match=rf"it raised {type(error).__name__} at test_explanation.py:\d+") as caught:
        enumerate_law(subject, tokens=1)
    assert not isinstance(caught.value, NotUnderstood)


def test_what_a_sampler_refuses_is_the_subjects_fault():
    """Stand-ins raise what the real sampler would."""

    def negative(context, n):
        import torch

        return [int(torch.multinomial(torch.tensor([-1.0, 1.0]), 1))]

    with pytest.raises(InputError, match=r"it raised RuntimeError at test_explanation.py:\d+: probab") as caught:
        enumerate_law(negative, tokens=1)
    assert not isinstance(caught.value, NotUnderstood)


def test_a_call_with_wrong_arguments_is_the_subjects_fault():
    with pytest.raises(InputError, match="it raised TypeError") as caught:
        enumerate_law(lambda context: [0], tokens=1)
    assert not isinstance(caught.value, NotUnderstood)

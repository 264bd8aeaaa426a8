"""The code and the proofs speak of the same numbers: pairs computed by rheocheck.exact and inside Coq."""

import pytest

from rheocheck.core import Pair, Shape, matching, naive, normalise, recursive, top_k
from rheocheck.core.builders import rheo
from rheocheck.core.verifiers import rheo as rheo_verifier
from rheocheck.exact import verify
from tests.faulty import token_ties
from tests.proofs.bridge import Case, coq_file, low_proxy
from tests.proofs.coq import CLOSED, coqc, needs_coq
from toy_models import lead_probe_tie

pytestmark = [pytest.mark.proofs, needs_coq]

# The pairs of proofs/counterexamples.v: (pair, shape, builder, what token 0 comes out with, what it should).
COUNTEREXAMPLES = {
    "naive ranking": (
        Pair(2, {(): ["2/3", "1/3"]}, {(): ["1/3", "2/3"]}),
        Shape(leads=0, branching=2, depth=1, nodes=1),
        naive,
        ("4/9", "1/3"),
    ),
    "token ties": (lead_probe_tie.pair, lead_probe_tie.shape, token_ties, ("3/4", "1/2")),
    "low proxy": (
        Pair(3, {(): ["1/2", "3/10", "1/5"]}, {(): ["1/4", "1/4", "1/2"]}),
        Shape(leads=0, branching=2, depth=1, nodes=1),
        low_proxy,
        ("3/8", "1/4"),
    ),
}

MARKOV = Pair(
    3,
    {(): normalise((2, 1, 1)), (0,): normalise((1, 2, 1)), (1,): normalise((1, 1, 0))},
    {(): normalise((1, 2, 1)), (0,): normalise((1, 1, 2)), (2,): normalise((0, 1, 1))},
)
TWO = Pair(
    2,
    {(): normalise((1, 1)), (0,): normalise((3, 1))},
    {(): normalise((3, 1)), (1,): normalise((1, 3))},
)
TIED = Pair(3, {(): normalise((1, 1, 1))}, {(): normalise((1, 2, 3)), (0,): normalise((1, 0, 0))})
UNEVEN = Pair(
    3,
    {(): normalise((5, 3, 2)), (0,): normalise((2, 5, 3)), (2,): normalise((0, 0, 1))},
    {(): normalise((2, 5, 3))},
)
SECOND = Pair(3, {(): normalise((2, 1, 1)), (0, 1): normalise((1, 1, 2))}, {(): normalise((1, 1, 2))})

CASES = {
    **{name: Case(pair, shape, builder, rheo_verifier) for name, (pair, shape, builder, _) in COUNTEREXAMPLES.items()},
    "naive ranking, recursive": Case(*COUNTEREXAMPLES["naive ranking"][:3], recursive),
    "naive ranking, matching": Case(*COUNTEREXAMPLES["naive ranking"][:3], matching),
    "rheo, one lead": Case(MARKOV, Shape(leads=1, branching=2, depth=2, nodes=3), rheo, rheo_verifier),
    "rheo, recursive": Case(MARKOV, Shape(leads=1, branching=3, depth=1, nodes=2), rheo, recursive),
    "rheo, no lead": Case(TWO, Shape(leads=0, branching=2, depth=2, nodes=3), rheo, recursive),
    "rheo, ties and zeros": Case(TIED, Shape(leads=1, branching=3, depth=1, nodes=2), rheo, rheo_verifier),
    "rheo, frontier of one": Case(TWO, Shape(leads=0, branching=2, depth=2, nodes=3, frontier=1), rheo, rheo_verifier),
    "rheo, two tokens of context": Case(SECOND, Shape(leads=1, branching=2, depth=2, nodes=2), rheo, rheo_verifier),
    "rheo, two leads": Case(UNEVEN, Shape(leads=2, branching=3, depth=2, nodes=3), rheo, rheo_verifier),
    "rheo, more leads than slots": Case(UNEVEN, Shape(leads=3, branching=2, depth=2, nodes=3), rheo, recursive),
    "naive, two layers": Case(TWO, Shape(leads=0, branching=2, depth=2, nodes=2), naive, recursive),
    "top-K": Case(MARKOV, Shape(leads=1, branching=2, depth=2, nodes=3), top_k, recursive),
}


@pytest.mark.parametrize("name", COUNTEREXAMPLES)
def test_the_numbers_of_the_negative_theorems(name):
    pair, shape, builder, (emitted, target) = COUNTEREXAMPLES[name]
    found = verify(pair, builder, rheo_verifier, shape).witness
    assert (found.context, found.token, str(found.emitted), str(found.target)) == ((), 0, emitted, target)


@pytest.mark.parametrize("name", CASES)
def test_coq_computes_the_same_law(built, tmp_path, name):
    case = CASES[name]
    file = tmp_path / "case.v"
    file.write_text(coq_file(case, case.law(), case.emission().expected_length))
    code, printed = coqc(file, built)
    assert code == 0 and printed.splitlines() == [CLOSED, CLOSED], printed


@pytest.mark.parametrize("wrong", ["a chance", "the length"])
def test_a_wrong_number_is_refused(built, tmp_path, wrong):
    case = CASES["rheo, recursive"]
    law, length = case.law(), case.emission().expected_length
    if wrong == "a chance":
        law[next(word for word, mass in law.items() if mass)] /= 2
    else:
        length += 1
    file = tmp_path / "case.v"
    file.write_text(coq_file(case, law, length))
    code, printed = coqc(file, built)
    assert code != 0 and "Error" in printed


def test_the_cases_tell_builders_apart():
    """Lossless and biased laws are both among them, so an evaluator of the target alone would fail."""
    verdicts = {verify(c.pair, c.builder, c.verifier, c.shape).verdict for c in CASES.values()}
    assert verdicts == {"lossless", "biased"}

"""Plain runs behind an exact "no bias found": what they exclude, what they contradict, and in which processes they ran.

Where interception would see through a subject, the law that it "found" is written down here.
"""

import math
import random
import sys
from fractions import Fraction

import pytest

from rheocheck.audit import exact, plain_runs
from rheocheck.audit.exact import exact_audit
from rheocheck.audit.methods import audit
from rheocheck.audit.plain_runs import Side
from rheocheck.audit.processes import Importable, Processes, Unable, importable
from rheocheck.core.errors import InputError
from rheocheck.intercept import Enumeration, NullEvent
from tests.audit import hidden, subjects

DELTA = 1e-6
HALF = {0: 0.5, 1: 0.5}


def drawing(weights):
    return lambda context, n_tokens: [random.choices(range(len(weights)), weights)[0] for _ in range(n_tokens)]


@pytest.fixture
def finds(monkeypatch):
    """Makes interception find this law, whatever the subject does, of every side."""

    def install(law, boundaries=(), seconds=0.01):
        law = {word: Fraction(mass) for word, mass in law.items()}
        found = Enumeration(
            law, Fraction(0), len(law), None, seconds, {word: [None] for word in law}, tuple(boundaries)
        )
        monkeypatch.setattr(exact, "enumerate_law", lambda *a, **k: found)

    return install


def runs_of(weights, law, n, seed, **more):
    side = Side(drawing(weights), law, lambda word: word[0], None, **more)
    return plain_runs.plain_runs([side], (), 1, seed=seed, seconds=0.0, number=n, progress=False)


# what is excluded


def test_the_numbers_of_the_issue():
    """200 runs: an event of probability 0.067 would have been seen; 0.19 is what a bias may hide besides the noise."""
    found = runs_of([1, 1], HALF, 200, seed=1)
    assert found.agrees and found.runs == found.planned == 200
    assert found.hidden_event == pytest.approx(1 - DELTA ** (1 / 200)) == pytest.approx(0.0667, abs=1e-4)
    assert (1 - found.hidden_event) ** 200 == pytest.approx(DELTA)
    radius = math.sqrt(math.log(1 / DELTA) / 400)
    assert radius <= found.hidden_tv < radius + 0.12


@pytest.mark.distribution
@pytest.mark.parametrize(("n", "shift"), [(200, 0.1), (200, 0.2), (1000, 0.05), (1000, 0.1)])
def test_what_passes_is_never_more_than_what_is_printed(n, shift):
    """A bias among possible words, TV `shift`. Null: hidden_tv < TV has probability 1e-6 in each of 200 audits (50
    here); so one hit in 50 fixed seeds is a fault of the bound. The control: at TV beyond the bound all contradict."""
    law = {k: 0.25 for k in range(4)}
    for seed in range(50):
        found = runs_of([0.25 + shift, 0.25 - shift, 0.25, 0.25], law, n, seed)
        assert not found.agrees or found.hidden_tv >= shift
    for seed in range(10):
        assert not runs_of([0.99, 0.01, 0, 0], law, n, seed).agrees


@pytest.mark.distribution
def test_a_hidden_event_of_the_printed_probability_is_seen():
    """It emits an impossible word; 200 runs miss it with probability 1e-6, 50 seeds in all with 5e-5. An event of a
    tenth of that is missed by 200 runs with probability 0.26: the bound is no idle one."""
    x = 1 - DELTA ** (1 / 200)
    assert not any(runs_of([(1 - x) / 2, (1 - x) / 2, x], HALF, 200, seed).agrees for seed in range(50))
    rare = [runs_of([(1 - x / 10) / 2, (1 - x / 10) / 2, x / 10], HALF, 200, seed).agrees for seed in range(50)]
    assert 3 <= sum(rare) <= 25  # Binomial(50, 0.26): 6 standard deviations would be 31


def test_a_law_without_draws_excludes_nothing():
    found = plain_runs._hidden_tv([], Side(None, HALF, lambda w: w[0], None), DELTA)
    assert found == 1.0


@pytest.mark.distribution
def test_words_that_were_not_enumerated_are_no_contradiction_but_count():
    law = {0: 0.5, 1: 0.4999}
    found = runs_of([0.5, 0.4999, 0.0001], law, 1000, seed=2)
    assert found.agrees and found.hidden_tv > math.sqrt(math.log(1 / DELTA) / 2000)


@pytest.mark.distribution
def test_rounding_may_hit_events_of_probability_zero_but_not_often():
    """Once in 1000 is what coarse uniforms do; a tenth of all is a hidden event, however it is called."""
    edge = frozenset({(2,)})
    assert runs_of([0.4995, 0.4995, 0.001], HALF, 1000, seed=3, never=edge).agrees
    assert not runs_of([0.45, 0.45, 0.1], HALF, 1000, seed=3, never=edge).agrees


# verdicts


@pytest.mark.distribution
@pytest.mark.parametrize(
    "weights", [[1, 0], [3, 1], [1, 1, 2], [9, 9, 2]], ids=["TV 0.5", "TV 0.25", "impossible 0.5", "impossible 0.1"]
)
def test_planted_hidden_randomness_leaves_no_verdict(finds, weights):
    finds({(0,): "1/2", (1,): "1/2"})
    law = lambda context: [0.5, 0.5, 0.0]  # noqa: E731
    verdict = exact_audit(drawing(weights), target=law, tokens=1, plain_runs=500)
    assert (verdict.verdict, verdict.exit_code) == ("inconclusive", 3)
    assert verdict.notes[0] == exact.DISAGREE
    assert "500 plain draws contradict the enumerated law" in verdict.confirmation
    assert (verdict.hidden_tv, verdict.hidden_event) == (1.0, 1.0)
    control = exact_audit(drawing([1, 1]), target=law, tokens=1, plain_runs=500)
    assert (control.verdict, control.plain_runs, control.notes) == ("no_bias_found", 500, ())


@pytest.mark.distribution
def test_a_baseline_is_run_plainly_too(finds):
    finds({(0,): "1/2", (1,): "1/2"})
    both = exact_audit(drawing([1, 1]), baseline=drawing([1, 1]), tokens=1, plain_runs=300)
    one = exact_audit(drawing([1, 1]), target=subjects.TWO, tokens=1, plain_runs=300)
    assert both.verdict == one.verdict == "no_bias_found"
    assert both.hidden_tv > 1.5 * math.sqrt(math.log(1 / DELTA) / 600) > one.hidden_tv
    assert exact_audit(drawing([1, 1]), baseline=drawing([1, 0]), tokens=1, plain_runs=300).verdict == "inconclusive"


def test_without_plain_runs_nothing_hidden_is_excluded():
    verdict = exact_audit(subjects.unseeded, target=subjects.CHAIN, tokens=1, confirm=False)
    assert (verdict.verdict, verdict.plain_runs, verdict.hidden_tv, verdict.hidden_event) == ("no_bias_found", 0, 1, 1)
    biased = exact_audit(subjects.plainly_biased, target=subjects.CHAIN, tokens=2, plain_runs=50)
    assert (biased.verdict, biased.hidden_tv) == ("biased", None)
    assert " 50 plain draws" in biased.confirmation


def test_the_number_is_yours_and_planned_from_the_clock_otherwise(monkeypatch, finds):
    finds({(0,): "1/2", (1,): "1/2"})
    ask = dict(target=subjects.TWO, tokens=1)
    assert exact_audit(drawing([1, 1]), **ask, plain_runs=7).plain_runs == 7
    clock = iter(range(10**9))
    monkeypatch.setattr(plain_runs.time, "perf_counter", lambda: next(clock) * 0.001)
    assert exact_audit(drawing([1, 1]), **ask).plain_runs == 200  # 0.1 s for calls of a millisecond: the least
    finds({(0,): "1/2", (1,): "1/2"}, seconds=2.9)
    assert exact_audit(drawing([1, 1]), **ask).plain_runs == 2000
    for wrong in (0, -1, 2.0, True):
        with pytest.raises(InputError, match="--plain-runs must be an integer >= 1"):
            exact_audit(drawing([1, 1]), **ask, plain_runs=wrong)
    with pytest.raises(InputError, match="--plain-runs must go with --method exact or auto"):
        audit(drawing([1, 1]), **ask, plain_runs=9)


def test_ctrl_c_leaves_no_verdict(finds):
    finds({(0,): "1/2", (1,): "1/2"})
    calls = []

    def subject(context, n_tokens):
        calls.append(1)
        if len(calls) > 40:
            raise KeyboardInterrupt
        return random.choices([0, 1])

    verdict = exact_audit(subject, target=subjects.TWO, tokens=1, plain_runs=200)
    assert (verdict.verdict, verdict.interrupted, verdict.plain_runs) == ("inconclusive", True, 40)
    assert verdict.notes == ("Ctrl-C ended the plain runs of the real code after 40 of 200",)


def test_boundary_faults_are_not_impossible_words(finds):
    finds({(0,): "1/2", (1,): "1/2"}, boundaries=[NullEvent((2,), "uniform 1 = 0", "d.py:3")])
    law = lambda context: [0.5, 0.5, 0.0]  # noqa: E731
    assert exact_audit(drawing([499, 499, 2]), target=law, tokens=1, plain_runs=500, seed=4).verdict == "no_bias_found"


# other processes


def test_runs_are_spread_over_processes():
    verdict = exact_audit(subjects.unseeded, target=subjects.CHAIN, tokens=2, plain_runs=200)
    assert (verdict.verdict, verdict.plain_runs, verdict.plain_processes, verdict.notes) == (
        "no_bias_found",
        200,
        5,
        (),
    )
    seeded = exact_audit(subjects.honest, target=subjects.CHAIN, tokens=2, plain_runs=200)
    assert (seeded.plain_processes, seeded.verdict) == (5, "no_bias_found")
    local = exact_audit(lambda c, n: subjects.unseeded(c, n), target=subjects.CHAIN, tokens=2, plain_runs=200)
    assert (local.plain_processes, local.notes) == (1, ())


def test_processes_are_kept_and_their_hashes_differ():
    exact_audit(hidden.honest, target=hidden.halves, tokens=1, plain_runs=50)
    before = [worker.pid for worker in Processes.shared()._workers]
    exact_audit(hidden.honest, target=hidden.halves, tokens=2, plain_runs=50)
    assert [worker.pid for worker in Processes.shared()._workers] == before
    assert len(set(before)) == Processes.COUNT >= 4


@pytest.mark.distribution
@pytest.mark.parametrize("subject", [hidden.set_order, hidden.by_process], ids=["order of a set", "process"])
def test_a_law_that_hangs_on_the_process_is_caught(subject):
    """Against itself as a baseline: enumerated in one process, both laws are the same."""
    verdict = exact_audit(subject, baseline=subject, tokens=1, plain_runs=1000)
    assert (verdict.verdict, verdict.total_variation) == ("inconclusive", 0)
    assert verdict.notes[:2] == (exact.DISAGREE, plain_runs.DIFFER)
    here = exact_audit(lambda c, n: subject(c, n), baseline=lambda c, n: subject(c, n), tokens=1, plain_runs=1000)
    assert here.verdict == "no_bias_found"  # what one process cannot see


def test_a_subject_that_runs_only_here_is_run_here():
    verdict = exact_audit(hidden.only_here, target=hidden.halves, tokens=1, plain_runs=200)
    assert (verdict.verdict, verdict.plain_runs, verdict.plain_processes) == ("no_bias_found", 200, 1)
    (note,) = verdict.notes
    assert note.startswith("the plain runs stayed in one process, another one could not run the subject: ")
    assert "no model here" in note


def test_what_another_process_can_import(monkeypatch):
    name = importable(hidden.honest, None, None, "SUBJECT")
    assert (name.spec, name.settings) == ("tests.audit.hidden:honest", None)
    assert importable(drawing([1]), None, None, "SUBJECT") is None
    assert importable(subjects.batched, None, None, "SUBJECT") is None
    asked = importable(hidden.factory(weight=3), "tests.audit.hidden:factory", {"weight": 3}, "SUBJECT")
    assert asked.settings == {"weight": 3}
    assert importable(hidden.honest, "__main__:x", None, "SUBJECT") is None


@pytest.mark.distribution
def test_factories_get_their_settings():
    asked = {"subject": "tests.audit.hidden:factory", "settings": {"weight": 3}}
    law = lambda context: [0.75, 0.25]  # noqa: E731
    verdict = exact_audit(hidden.factory(weight=3), target=law, tokens=1, plain_runs=1000, question=asked)
    assert (verdict.verdict, verdict.plain_processes) == ("no_bias_found", 5)
    wrong = asked | {"settings": {"weight": 1}}
    assert exact_audit(hidden.factory(weight=3), target=law, tokens=1, plain_runs=1000, question=wrong).notes


def test_an_edited_module_is_imported_anew(tmp_path, monkeypatch):
    """Edited after its first audit, and again while the audited function is the older one."""
    monkeypatch.syspath_prepend(str(tmp_path))
    path = tmp_path / "edited_subject.py"
    text = "import random\ndef subject(context, n):\n    return random.choices([0, 1], [{}, 1])\n"

    def audited(weight):
        path.write_text(text.format(weight))
        sys.modules.pop("edited_subject", None)
        import edited_subject

        law = lambda context: [weight / (1 + weight), 1 / (1 + weight)]  # noqa: E731
        return edited_subject.subject, law

    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for weight in (1, 20):
        subject, law = audited(weight)
        verdict = exact_audit(subject, target=law, tokens=1, plain_runs=500)
        assert (verdict.verdict, verdict.plain_processes, verdict.notes) == ("no_bias_found", 5, ())
    path.write_text(text.format(300))
    verdict = exact_audit(subject, target=law, tokens=1, plain_runs=500)
    assert (verdict.verdict, verdict.plain_processes) == ("no_bias_found", 1)
    assert "got other code in its file" in verdict.notes[0]


def test_a_process_that_dies_is_replaced():
    pool = Processes()
    name = Importable("tests.audit.dying:subject", None)
    job = name.job((), 1, None, 3, 0, 0, 6, 0)
    good = importable(hidden.honest, None, None, "SUBJECT").job((), 1, None, 3, 0, 0, 6, 0)
    try:
        pool.begin([job])
        with pytest.raises(Unable, match="importing 'tests.audit.dying' failed"):
            pool.finish(0.0)
        pool._workers[0].kill()
        pool._workers[0].wait()
        pool.begin([good])
        assert len(pool.finish(0.0)[0]) == 3
    finally:
        pool.close()

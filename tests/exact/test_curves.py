"""Curves: every figure equals `verify`'s and an independent enumeration, and bounds are bounds.

The enumeration replays builds and walks of the core decoder and knows a probe by its slot, m + 1; ceilings are
checked by their definition as a cut, over all sets of words.
"""

from dataclasses import replace
from fractions import Fraction
from itertools import chain, combinations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rheocheck.core import BUILDERS, VERIFIERS, InputError, Pair, Shape, build, naive, one_hot, outcomes
from rheocheck.core.decoder import child_with
from rheocheck.exact import Budget, Curve, LeftOut, Method, Walk, forest_of, sweep, tempered, verify
from rheocheck.exact.curves.ceiling import length_ceiling
from rheocheck.exact.curves.sweep import METHODS
from rheocheck.formats import load_pair
from tests.oracle import measures, target_law
from tests.strategies import pairs, shapes

pytestmark = pytest.mark.distribution
SOME = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
CONTROL = Method("naive + rheo", naive, VERIFIERS["rheo"])
TOY = load_pair("toy_models.one_lead:pair")
SHAPE = Shape(leads=1, branching=4, depth=2, nodes=8)
NAMES = st.sampled_from(["top_k", "rheo", "naive"])


def method(builder, verifier):
    return Method(f"{builder} + {verifier}", BUILDERS[builder], VERIFIERS[verifier])


def only(pair, shape, which):
    """The one point of one method on one pair and shape."""
    return sweep(pair, "m", [shape.leads], [which], shape).curves[0].points[0]


def walked(pair, which, shape):
    """(P(d drafts accepted) for d = 0..D, visits to parents, to those of them that kept slot m + 1, to slot m + 1)."""
    reached, counts = [Fraction(0)] * (shape.depth + 1), [Fraction(0)] * 3

    def cycle(chance):
        children, context, seen = build(which.builder, pair, (), chance, shape).children, (), [0, 0, 0]
        while True:
            probe = next((child for child in children if child.slot == shape.leads + 1), None)
            token, descend = which.verifier(pair.p(context), tuple(child.leaf() for child in children), chance)
            child = child_with(children, token) if descend else None
            for place, what in enumerate((children, probe, probe is not None and child is probe)):
                seen[place] += bool(what)
            if child is None:
                return len(context), seen
            children, context = child.children, (*context, token)

    for weight, (accepted, seen), _ in outcomes(cycle):
        for d in range(accepted + 1):
            reached[d] += weight
        counts = [count + weight * times for count, times in zip(counts, seen, strict=True)]
    return reached, *counts


@SOME
@given(pairs(max_vocab=3), shapes(max_nodes=3, max_depth=2), NAMES, st.sampled_from(sorted(VERIFIERS)))
def test_a_point_equals_the_independent_enumeration(pair, shape, builder, verifier):
    which = method(builder, verifier)
    point = only(pair, shape, which)
    tv, _, length = measures(pair, which.builder, which.verifier, shape)
    reached, parents, survived, to_probe = walked(pair, which, shape)
    assert (point.total_variation, point.expected_length) == (tv, length)
    assert point.expected_length == sum(reached)
    assert point.levels == tuple(
        down / here if here else None for here, down in zip(reached, reached[1:], strict=False)
    )
    if point.probe_survival is None:
        unproposed = shape.leads >= shape.branching or few(pair, shape)
        assert builder == "top_k" or (not survived and (not parents or unproposed))
    else:
        assert point.probe_survival == survived / parents
        assert point.probe_acceptance == (to_probe / survived if survived else None)


def few(pair, shape):
    """Whether the first node has no token left for a probe."""
    return sum(x > 0 for x in pair.q(())) <= shape.leads


@SOME
@given(pairs(), shapes(max_nodes=8), NAMES, st.sampled_from(sorted(VERIFIERS)))
def test_a_point_equals_verify(pair, shape, builder, verifier):
    which = method(builder, verifier)
    point, found = only(pair, shape, which), verify(pair, which.builder, which.verifier, shape)
    assert point.expected_length == found.expected_length
    assert point.total_variation == found.total_variation
    assert (point.acceptance, point.optimal_acceptance) == (found.acceptance, found.optimal_acceptance)
    assert point.levels[0] == found.acceptance.root
    assert point.biased == (found.verdict == "biased")


@SOME
@given(pairs(max_vocab=3), shapes(max_nodes=4, max_depth=2), NAMES)
def test_the_ceiling_is_its_cut(pair, shape, builder):
    """1 + sum over d of the minimum over sets H of words of P(H) + 1 - P(all kept words of d tokens lie in H)."""
    total = Fraction(1)
    for d in range(1, shape.depth + 1):
        kept = {}
        for weight, tree, _ in outcomes(lambda chance: build(BUILDERS[builder], pair, (), chance, shape)):
            words = frozenset(path for path, _ in tree.walk() if len(path) == d)
            kept[words] = kept.get(words, 0) + weight
        words, law = sorted(set().union(*kept)), target_law(pair, d)
        sets = chain.from_iterable(combinations(words, n) for n in range(len(words) + 1))
        total += min(
            sum(law.get(w, 0) for w in H) + 1 - sum(mass for some, mass in kept.items() if some <= set(H)) for H in sets
        )
    assert only(pair, shape, method(builder, "matching")).ceiling == total


@SOME
@given(pairs(), shapes(max_nodes=8), st.sampled_from(["top_k", "rheo"]), st.sampled_from(sorted(VERIFIERS)))
def test_no_lossless_decoder_exceeds_its_bounds(pair, shape, builder, verifier):
    point = only(pair, shape, method(builder, verifier))
    assert point.total_variation == 0
    assert point.expected_length <= point.ceiling
    assert point.acceptance.root <= point.optimal_acceptance.root
    if builder == "top_k":
        assert point.expected_length == point.ceiling  # nothing is drawn: matching is as good as any


def test_a_biased_decoder_exceeds_them_and_is_never_best():
    """The planted fault: the control is longer than its trees allow, its TV is not 0, and no point of it is best."""
    curve = sweep(TOY, "m", range(4), [CONTROL], SHAPE).curves[0]
    assert [point.biased for point in curve.points] == [True, True, True, False]
    assert all(point.expected_length > point.ceiling for point in curve.points if point.biased)
    assert curve.biased and curve.best is None


# Kept trees grow with N, draw by draw, and a verifier that leaves the fate of elder children alone loses nothing.
MONOTONE = [("naive", "matching"), ("rheo", "matching"), ("rheo", "recursive"), ("top_k", "recursive")]


@SOME
@given(pairs(), st.integers(0, 2), st.integers(1, 3), st.integers(1, 3), st.sampled_from(MONOTONE))
def test_more_nodes_lose_nothing(pair, m, K, D, names):
    points = sweep(pair, "N", range(7), [method(*names)], Shape(leads=m, branching=K, depth=D)).curves[0].points
    assert points[0].expected_length == 1
    lengths, ceilings = [p.expected_length for p in points], [p.ceiling for p in points]
    assert lengths == sorted(lengths) and ceilings == sorted(ceilings)


def test_under_naive_ranking_more_nodes_can_lose():
    """The planted fault: given more room, the naive probe is kept or not by what it drew."""
    pair = Pair(3, {(): ["5/11", "4/11", "2/11"]}, {(): ["5/11", "1/11", "5/11"]})
    shape = Shape(leads=0, branching=3, depth=1)
    points = sweep(pair, "N", [1, 2], [method("naive", "recursive")], shape).curves[0].points
    assert [point.expected_length for point in points] == [Fraction(206, 121), Fraction(199, 121)]


@pytest.mark.parametrize(("over", "letter"), [("m", "leads"), ("K", "branching"), ("D", "depth"), ("N", "nodes")])
def test_each_size_is_swept(over, letter):
    base = dict(leads=1, branching=3, depth=2, nodes=5)
    found = sweep(TOY, over, [1, 2], shape=Shape(**base))
    for which, curve in zip(METHODS, found.curves, strict=True):
        for value, point in zip([1, 2], curve.points, strict=True):
            there = verify(TOY, which.builder, which.verifier, Shape(**{**base, letter: value}))
            assert (point.value, point.expected_length) == (value, there.expected_length)


def test_a_frontier_of_its_own_does_not_follow_the_branching():
    free, fixed = (sweep(TOY, "K", [3], shape=Shape(branching=4, nodes=12, frontier=F)) for F in (None, 1))
    assert "F" not in free.sizes and fixed.sizes["F"] == 1
    for found, F in ((free, 3), (fixed, 1)):
        there = verify(TOY, shape=Shape(branching=3, nodes=12, frontier=F))
        assert found.curves[2].points[0].expected_length == there.expected_length


def test_after_a_context_everything_is_that_of_the_pair_moved_there():
    start, after = [["1/2", "1/2"], ["1/4", "3/4"]], [["3/4", "1/4"], ["1/3", "2/3"]]
    pair = Pair(2, *({(): at, (1,): one} for at, one in zip(start, after, strict=True)))
    moved = Pair(2, *({(): one, (0,): at, (1,): one} for at, one in zip(start, after, strict=True)))
    shape = Shape(leads=0, branching=2, depth=2, nodes=4)
    here, there = (
        sweep(which, "m", [0, 1], shape=shape, context=context).curves for which, context in ((pair, (1,)), (moved, ()))
    )
    for one, other in zip(here, there, strict=True):
        assert [replace(p, seconds=0) for p in one.points] == [replace(p, seconds=0) for p in other.points]
    assert here[2].points[0].ceiling != sweep(pair, "m", [0], shape=shape).curves[2].points[0].ceiling


def test_a_context_and_a_callable_builder():
    pair = Pair(2, {(): ["1/2", "1/2"], (1,): ["3/4", "1/4"]}, {(): ["1/4", "3/4"], (1,): ["1/3", "2/3"]})

    def replayed(pair, context, chance, shape):
        return build(BUILDERS["rheo"], pair, context, chance, shape)

    which = [method("rheo", "rheo"), Method("the same", replayed, VERIFIERS["rheo"])]
    rule, other = (curve.points[0] for curve in sweep(pair, "m", [0], which, Shape(nodes=3), context=(1,)).curves)
    assert rule.expected_length == other.expected_length
    assert rule.expected_length == verify(pair, shape=Shape(leads=0, nodes=3), context=(1,)).expected_length
    assert rule.ceiling == other.ceiling
    assert rule.probe_survival is not None and other.probe_survival is None  # of no rule: who knows which is the probe


# Temperature.


@SOME
@given(pairs())
def test_temperature_one_is_the_pair_itself(pair):
    assert tempered(pair, 1) is pair and tempered(pair, 1.0) is pair


@SOME
@given(pairs(), st.sampled_from([0.5, 2.0, 3.0]))
def test_temperature_raises_to_a_power(pair, T):
    """Float powers within rounding, relative to the row's largest entry; zeros stay zeros, rows sum to exactly 1."""
    hot = tempered(pair, T)
    for before, after in ((pair.draft, hot.draft), (pair.target, hot.target)):
        for context, row in before.items():
            powers = [float(x) ** (1 / T) for x in row]
            assert sum(after[context]) == 1
            for x, power, got in zip(row, powers, after[context], strict=True):
                assert (got == 0) == (x == 0)
                assert float(got) == pytest.approx(power / sum(powers), rel=1e-12)


def test_a_square_by_hand():
    row = tempered(Pair(3, {(): ["1/2", "1/4", "1/4"]}, {(): ["1/2", "1/4", "1/4"]}), 0.5).p(())
    assert [float(x) for x in row] == pytest.approx([2 / 3, 1 / 6, 1 / 6], rel=1e-12)


def test_temperature_zero_is_greedy_and_the_limit():
    pair = Pair(3, {(): ["1/5", "2/5", "2/5"], (0,): [0, 0, 1]}, {(): ["1/2", "1/4", "1/4"]})
    cold = tempered(pair, 0)
    assert (cold.q(()), cold.q((0,)), cold.p(())) == (one_hot(3, 1), one_hot(3, 2), one_hot(3, 0))
    assert tempered(pair, 0.0005).p(()) == cold.p(())  # of a tie, as in q(()), greedy is a choice and no limit
    found = sweep(TOY, "T", [0, 0.0005], shape=SHAPE)
    for curve in found.curves:
        assert [point.expected_length for point in curve.points] == [3, 3]  # p and q agree on their best token


def test_a_tiny_probability_survives_the_logarithm():
    tiny = Fraction(1, 10**400)  # no float is so small
    row = tempered(Pair(2, {(): [tiny, 1 - tiny]}, {(): [tiny, 1 - tiny]}), 1000).p(())
    assert float(row[0] / row[1]) == pytest.approx(10**-0.4, rel=1e-9)


def test_one_hot_collapse_and_the_sampled_probe():
    """The paper's failure of top-K: its acceptance falls as the temperature rises, that of a draw does not."""
    fixed, _, drawn = sweep(TOY, "T", [0.5, 1, 2, 4], shape=SHAPE).curves
    roots = [point.acceptance.root for point in fixed.points]
    assert roots == sorted(roots, reverse=True) and len(set(roots)) == 4
    assert [point.acceptance.root for point in drawn.points] == sorted(point.acceptance.root for point in drawn.points)
    assert all(point.total_variation == 0 for curve in (fixed, drawn) for point in curve.points)


# Budgets and errors.


def test_points_beyond_the_budget_are_left_out_by_name():
    found = sweep(TOY, "m", range(4), shape=SHAPE, budget=lambda: Budget(max_classes=5))
    fixed, _, drawn = found.curves
    assert [point.value for point in fixed.points] == [0, 1, 2, 3] and not fixed.left_out
    assert [point.value for point in drawn.points] == [2, 3]
    assert [(point.value, point.stopped) for point in drawn.left_out] == [(0, "max_classes"), (1, "max_classes")]
    assert all(0 < point.covered < 1 for point in drawn.left_out)
    whole = sweep(TOY, "m", [2, 3], shape=SHAPE).curves[2].points
    assert [p.expected_length for p in drawn.points] == [p.expected_length for p in whole]
    assert drawn.at(0) is None and drawn.at(2) is drawn.points[0]


def test_a_ceiling_that_nobody_wants_is_not_computed():
    found = sweep(TOY, "m", [1], shape=SHAPE, ceilings=False)
    assert [curve.points[0].ceiling for curve in found.curves] == [None] * 3
    assert found.curves[2].points[0].optimal_acceptance.root == Fraction(173, 180)


def test_a_ceiling_out_of_reach_leaves_the_length(monkeypatch):
    whole = sweep(TOY, "m", [0, 2], shape=SHAPE).curves[1]
    monkeypatch.setattr("rheocheck.exact.curves.ceiling.MOST_SETS", 10)
    found = sweep(TOY, "m", [0, 2], shape=SHAPE).curves[1]
    assert [point.ceiling for point in found.points] == [None, whole.points[1].ceiling]
    assert [point.expected_length for point in found.points] == [point.expected_length for point in whole.points]


def test_a_ceiling_is_whole_or_none_at_every_limit(monkeypatch):
    """Three children that are always kept, each above a probe of three tokens: never a part for the whole."""
    spread = {(x,): ["1/3", "1/4", "1/6", "1/6", "1/12"] for x in range(3)}
    pair = Pair(5, {(): ["1/2", "1/3", "1/6", 0, 0], **spread}, {(): ["1/5"] * 5})
    shape, which = Shape(leads=2, branching=3, depth=2, nodes=12), METHODS[1]
    whole = only(pair, shape, which).ceiling
    for limit in range(1, 31):
        monkeypatch.setattr("rheocheck.exact.curves.ceiling.MOST_SETS", limit)
        assert only(pair, shape, which).ceiling == (whole if limit >= 27 else None)


def test_a_ceiling_watches_the_clock():
    forest = forest_of(TOY, BUILDERS["rheo"], (), SHAPE, Budget())
    assert length_ceiling(TOY, forest, (), 2, Budget(max_seconds=0)) is None
    assert length_ceiling(TOY, forest, (), 2, Budget()) == only(TOY, SHAPE, METHODS[1]).ceiling


def test_probes_are_counted_over_all_chunks_of_trees():
    """The walk pushes 64 trees first, then more: the counts are those of the trees one by one."""
    forest = forest_of(TOY, BUILDERS["rheo"], (), Shape(leads=0, branching=4, depth=2, nodes=10))
    assert len(forest.roots) > 64
    whole = Walk(TOY, forest, VERIFIERS["rheo"]).emission(())
    counts = [0, 0, 0]
    for tree, mass in forest.roots.items():
        one = Walk(TOY, replace(forest, roots={tree: mass}), VERIFIERS["rheo"]).emission(())
        counts = [a + b for a, b in zip(counts, (one.parents, one.survived, one.to_probe), strict=True)]
    assert [whole.parents, whole.survived, whole.to_probe] == counts
    assert 0 < whole.to_probe < whole.survived


@pytest.mark.parametrize("where", ["length_ceiling", "best_acceptance"])
def test_an_interrupt_after_the_walk_keeps_the_length_and_ends_the_sweep(monkeypatch, where):
    def interrupted(*_):
        raise KeyboardInterrupt

    whole = sweep(TOY, "m", [1, 2], shape=SHAPE).curves[0].points[0]
    monkeypatch.setattr(f"rheocheck.exact.curves.point.{where}", interrupted)
    first, *_ = curves = sweep(TOY, "m", [1, 2], shape=SHAPE).curves
    (point,) = first.points
    assert point.expected_length == whole.expected_length
    assert point.ceiling is None  # after Ctrl-C nothing else is begun
    assert (point.optimal_acceptance is None) == (where == "best_acceptance")
    assert sum(len(curve.points) for curve in curves) == 1
    assert {left.stopped for curve in curves for left in curve.left_out} == {"interrupted"}


def test_figures_that_are_late_leave_the_length(monkeypatch):
    """The clock runs out as soon as the walk is over."""
    emitted = Walk.emission

    def emission(self, start, budget):
        out = emitted(self, start, budget)
        budget.max_seconds = 0
        return out

    whole = only(TOY, SHAPE, METHODS[2])
    monkeypatch.setattr(Walk, "emission", emission)
    late = only(TOY, SHAPE, METHODS[2])
    assert late == replace(whole, optimal_acceptance=None, ceiling=None, seconds=late.seconds)


def test_what_verifiers_share_is_counted_for_each():
    """One forest and one ceiling for both; each of their points says what that forest cost."""
    ticks = []
    _, one, other = sweep(TOY, "m", [0, 2], shape=SHAPE, done=lambda: ticks.append(1)).curves
    assert [p.classes for p in one.points] == [p.classes for p in other.points]
    for point in one.points:
        assert point.classes == verify(TOY, shape=replace(SHAPE, leads=point.value)).classes > 0
    assert len(ticks) == 6


def test_a_probe_that_is_never_kept_is_not_a_probe_that_does_not_exist():
    kept, none = (only(TOY, replace(SHAPE, leads=m, nodes=1), METHODS[2]) for m in (1, 4))
    assert (kept.probe_survival, kept.probe_acceptance) == (0, None)
    assert (none.probe_survival, none.probe_acceptance) == (None, None)


def test_no_time_leaves_everything_out():
    found = sweep(TOY, "m", [0, 1], shape=SHAPE, budget=lambda: Budget(max_seconds=0))
    assert found.computed == 0 and all(curve.best is None for curve in found.curves)
    assert {point.stopped for curve in found.curves for point in curve.left_out} == {"max_seconds"}


def test_an_interrupt_keeps_what_was_done():
    calls = {}

    def impatient(pair, context, chance, shape):
        calls[shape.leads] = "called"
        if shape.leads == 1:
            raise KeyboardInterrupt
        return build(BUILDERS["rheo"], pair, context, chance, shape)

    which = [Method("impatient", impatient, VERIFIERS["rheo"]), METHODS[0]]
    first, second = sweep(TOY, "m", range(4), which, Shape(branching=2, depth=1, nodes=2)).curves
    assert [point.value for point in first.points] == [point.value for point in second.points] == [0]
    assert [point.value for point in first.left_out] == [point.value for point in second.left_out] == [1, 2, 3]
    assert {point.stopped for point in first.left_out + second.left_out} == {"interrupted"}
    assert max(calls) == 1


def test_code_that_is_stopped_from_outside_is_left_out_and_the_sweep_goes_on():
    """What the command's alarm does to code that never looks at the clock."""
    from contextlib import contextmanager

    seen = []

    @contextmanager
    def guard(budget):
        seen.append(budget)
        if len(seen) == 1:
            budget.stopped = "max_seconds"
            raise KeyboardInterrupt
        yield

    first, *others = sweep(TOY, "m", [1, 2], shape=SHAPE, guard=guard).curves
    assert first.left_out == (LeftOut(1, "max_seconds", Fraction(0)),)
    assert [point.value for point in first.points] == [2]
    assert all(len(curve.points) == 2 for curve in others) and len(seen) == 6


BAD = {
    "over": (dict(over="F"), "over must be one of m, T, K, D, N, got 'F'"),
    "no values": (dict(values=[]), "values must be some numbers, each once"),
    "twice": (dict(values=[1, 1]), "values must be some numbers, each once"),
    "size": (dict(over="K", values=[2, 0]), "branching must be an integer of at least 1, got 0"),
    "fraction": (dict(values=[0.5]), "leads must be an integer of at least 0, got 0.5"),
    "cold": (dict(over="T", values=[-1]), "a temperature must be a finite number of at least 0, got -1"),
    "infinite": (dict(over="T", values=[float("inf")]), "a temperature must be a finite number"),
    "no number": (
        dict(over="T", values=[float("nan")]),
        "a temperature must be a finite number of at least 0, got nan",
    ),
    "a text": (dict(over="T", values=["1.0"]), "a temperature must be a finite number of at least 0, got '1.0'"),
    "no methods": (dict(methods=[]), "methods must be some decoders"),
    "methods twice": (dict(methods=[CONTROL, CONTROL]), "each named once"),
    "context": (dict(context=(9,)), "the context must hold tokens 0..5"),
    "no pair": (dict(pair="toy"), "the pair must be a Pair, got str"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    changes, message = BAD[name]
    with pytest.raises(InputError, match=message):
        sweep(**{**dict(pair=TOY, over="m", values=[1]), **changes})


def test_the_best_of_equals_is_the_first_and_of_nothing_none():
    flat = sweep(TOY, "m", [2, 0], shape=SHAPE).curves[0]
    assert flat.best.value == 2
    assert Curve("nothing", ()).best is None

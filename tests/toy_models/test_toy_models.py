"""Every toy pair shows the failure that its first sentence names: the fault is off there, its honest twin is not.

One row of SHOWS per pair and fault: the exact total variation is pinned, and the fault's honest twin has 0 on the
same pair and shape. One row of HIDES per pair whose point is that a fault cannot be seen there: 0, and above 0 on
another pair, so that it is a fault. The faults are the small functions on top and those of tests/faulty.py.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from importlib import import_module
from typing import Any

import pytest

from rheocheck.core import BUILDERS, VERIFIERS, Decoder, Node, Pair, Shape, Tree, outcomes
from rheocheck.core.verifiers.residual import residual
from rheocheck.exact import Method, Verification, sweep, verify
from tests.faulty import accept_always, residual_from_p, token_ties
from toy_models import NAMES

top_k, rheo, naive, sampled = (BUILDERS[name] for name in ("top_k", "rheo", "naive", "sampled"))
matching, recursive, transport = (VERIFIERS[name] for name in ("matching", "recursive", "rheo"))


# Faulty rules.


def likelier_ties(q, K, m):
    """Equal scores are decided by the q of the token held."""
    return [replace(slot, tie={x: -q[x] for x in range(len(q))}) for slot in rheo(q, K, m)]


def one_hot_claims(q, K, m):
    """Tokens are drawn but claimed as if they were fixed: exact, and slow."""
    return [replace(slot, claim=None) for slot in rheo(q, K, m)]


def uncut_claims(q, K, m):
    """The probe of the truncated drafter claims the law before truncation."""
    module = toy("one_sided_truncation")
    uncut = Pair.from_logits({(): module.DRAFT}, {(): module.TARGET}, top=None).q(())
    return [replace(slot, claim=uncut) for slot in rheo(q, K, m)]


# Faulty builders, of one layer.


def put_back(pair, context, chance, shape):
    """Every slot is drawn from q, and claims q without its elder siblings (q itself when they are all of it)."""
    q = pair.q(context)
    nodes: list[Node] = []
    for slot in range(1, shape.branching + 1):
        elders = {node.token for node in nodes}
        left = [q[x] * 0 if x in elders else q[x] for x in range(len(q))]
        claim = tuple(x / sum(left) for x in left) if sum(left) else q
        nodes.append(Node(chance.choose(q), slot, claim))
    return Tree(tuple(nodes))


def forgets_elders(pair, context, chance, shape):
    """Siblings are drawn without replacement, and each claims q itself."""
    return _claiming(pair.q(context), sampled(pair, context, chance, shape))


def stale_claims(pair, context, chance, shape):
    """Tokens are drawn from the law of the context, and claim the law of the start."""
    return _claiming(pair.q(()), sampled(pair, context, chance, shape))


def _claiming(claim, tree):
    return Tree(tuple(replace(node, claim=claim) for node in tree.children))


# Faulty verifiers, of a chain of draws: accept the one child with some probability, else emit what is left.


def chain(name: str, accept: Callable[..., Any], left: Callable[..., Any]) -> Callable[..., tuple[int, bool]]:
    def verifier(p, children, chance):
        if not children:
            return chance.choose(p), False
        x, q = children[0].token, children[0].claim
        if chance.flip(accept(p[x], q[x])):
            return x, True
        return chance.choose(left(p, q, residual(p, q, p, chance))), False

    verifier.__name__ = name
    return verifier


def ratio(p, q):
    return p / q


def coin_of_8_bits(p, q):
    """P(coin <= p/q) for a coin of 0/256, 1/256, ..., 255/256: the last `=` is the fault."""
    return Fraction(int(256 * p / q) + 1, 256)


inclusive_coin = chain("inclusive_coin", coin_of_8_bits, lambda p, q, r: r)
inverted_ratio = chain("inverted_ratio", lambda p, q: q / p, lambda p, q, r: r)
cut_residual = chain("cut_residual", ratio, lambda p, q, r: [a if b else a * 0 for a, b in zip(r, q, strict=True)])

TWIN = {
    naive: rheo,
    token_ties: rheo,
    likelier_ties: rheo,
    one_hot_claims: rheo,
    uncut_claims: rheo,
    put_back: sampled,
    forgets_elders: sampled,
    stale_claims: sampled,
    accept_always: recursive,
    residual_from_p: recursive,
    inverted_ratio: recursive,
    inclusive_coin: recursive,
    cut_residual: recursive,
}


def toy(name: str) -> Any:
    return import_module(f"toy_models.{name}")


def replayable(name: str) -> Shape:
    """The pair's shape for `sampled`, which is replayed draw by draw: of one_lead, 360 ways a node, a single layer."""
    shape: Shape = toy(name).shape
    return replace(shape, depth=1) if name == "one_lead" else shape


@dataclass(frozen=True)
class Row:
    """A decoder with one fault on a pair, in the pair's own shape unless `shape` changes it.

    tv       the exact total variation of the block, or of `tokens` tokens over several cycles
    seen_on  for a fault that hides: a pair on which it does not
    """

    name: str
    builder: Any
    verifier: Any
    tv: str
    tokens: int | None = None
    shape: dict[str, int] = field(default_factory=dict)
    seen_on: str = ""

    def __str__(self) -> str:
        sizes = "".join(f"-{name}={size}" for name, size in self.shape.items())
        return f"{self.name}-{self.builder.__name__}-{self.verifier.__name__}{sizes}-{self.tokens or 'cycle'}"

    def run(self) -> Verification:
        module = toy(self.name)
        return verify(module.pair, self.builder, self.verifier, replace(module.shape, **self.shape), tokens=self.tokens)

    def twin(self) -> "Row":
        return replace(
            self, builder=TWIN.get(self.builder, self.builder), verifier=TWIN.get(self.verifier, self.verifier)
        )


# The values are the exact engine's. Those derived by hand in the pair's docstring are marked "by hand".
SHOWS = [
    Row("survival_bias", naive, recursive, "27/125"),
    Row("survival_bias", naive, transport, "113/500"),
    Row("lead_probe_tie", token_ties, recursive, "1/4"),
    Row("lead_probe_tie", token_ties, transport, "1/4"),  # by hand
    Row("drafter_zeros", rheo, cut_residual, "1/4", shape={"depth": 1}),  # by hand
    Row("drafter_zeros", rheo, cut_residual, "11/32"),
    Row("target_zeros", rheo, inclusive_coin, "1/1024", shape={"depth": 1}),  # by hand
    Row("target_zeros", rheo, accept_always, "1/4", shape={"depth": 1}),
    Row("same_law", naive, transport, "7/75", shape={"leads": 1, "branching": 3, "nodes": 4}),
    Row("peaked", naive, recursive, "3/50", shape={"nodes": 4}),
    Row("peaked", naive, transport, "9/100", shape={"nodes": 4}),
    Row("flat_drafter", token_ties, recursive, "1/15"),
    Row("flat_drafter", token_ties, transport, "1/10"),  # by hand
    Row("context_dependent", naive, recursive, "159/2000"),
    Row("context_dependent", naive, transport, "19/200"),
    Row("near_equal", rheo, accept_always, "1/1000000"),  # by hand
    Row("small_support", put_back, recursive, "1/9"),  # by hand
    Row("exact_ties", likelier_ties, recursive, "87/1024"),
    Row("exact_ties", likelier_ties, transport, "1/8"),
    Row("unequal_residual", forgets_elders, recursive, "1/35"),
    Row("unequal_residual", sampled, residual_from_p, "3/25", shape={"branching": 1}),
    Row("second_round", stale_claims, recursive, "13/200", tokens=2),
    Row("second_round", stale_claims, recursive, "8973/32000", tokens=3),
]

HIDES = [
    Row("same_law", rheo, accept_always, "0", seen_on="drafter_zeros"),
    Row("same_law", rheo, inverted_ratio, "0", seen_on="near_equal"),
    Row("same_law", rheo, residual_from_p, "0", seen_on="drafter_zeros"),
    Row("peaked", naive, recursive, "0", seen_on="survival_bias"),
    Row("peaked", naive, transport, "0", seen_on="survival_bias"),
    Row("flat_drafter", naive, recursive, "0", seen_on="survival_bias"),
    Row("flat_drafter", naive, transport, "0", seen_on="survival_bias"),
    Row("exact_ties", naive, recursive, "0", seen_on="survival_bias"),
    Row("exact_ties", naive, transport, "0", seen_on="survival_bias"),
    Row("single_residual", forgets_elders, recursive, "0", seen_on="unequal_residual"),
]


@pytest.mark.distribution
@pytest.mark.parametrize("row", SHOWS, ids=str)
def test_the_fault_shows_and_its_honest_twin_is_lossless(row: Row) -> None:
    found = row.run()
    assert found.method == "exact"
    assert found.verdict == "biased"
    assert found.total_variation == Fraction(row.tv)
    honest = row.twin().run()
    assert (honest.verdict, honest.total_variation) == ("lossless", 0)
    assert honest.false_claims == 0


@pytest.mark.distribution
@pytest.mark.parametrize("row", HIDES, ids=str)
def test_the_fault_hides_here_and_shows_elsewhere(row: Row) -> None:
    assert row.run().total_variation == Fraction(row.tv) == 0
    assert replace(row, name=row.seen_on).run().total_variation > 0


def test_every_pair_has_a_row_of_its_own() -> None:
    by_a_test_of_its_own = {"one_hot_collapse", "one_lead", "one_sided_truncation"}
    assert {row.name for row in SHOWS + HIDES} | by_a_test_of_its_own == set(NAMES)


@pytest.mark.distribution
@pytest.mark.parametrize("name", NAMES)
def test_honest_decoders_are_lossless_on_every_pair(name: str) -> None:
    module = toy(name)
    for builder, leads in ((top_k, 1), (rheo, 0), (rheo, 1), (rheo, 2)):
        for verifier in (matching, recursive, transport):
            found = verify(module.pair, builder, verifier, replace(module.shape, leads=leads))
            assert (found.method, found.total_variation, found.false_claims) == ("exact", 0, 0)
    assert verify(module.pair, sampled, recursive, replayable(name)).total_variation == 0


@pytest.mark.distribution
@pytest.mark.parametrize("name", sorted(set(NAMES) - {"one_sided_truncation"}))  # 132 tokens: seconds by replay
def test_the_verifiers_themselves_are_lossless_on_every_pair(name: str) -> None:
    """The engine writes the law of a built-in verifier down; inside a partial it has to run the function itself."""
    module = toy(name)
    for builder, verifier in ((rheo, matching), (rheo, recursive), (rheo, transport), (sampled, recursive)):
        shape = replayable(name) if builder is sampled else module.shape
        replayed = verify(module.pair, builder, partial(verifier), shape)
        assert replayed.total_variation == 0
        assert replayed.expected_length == verify(module.pair, builder, verifier, shape).expected_length


@pytest.mark.distribution
def test_survival_bias_is_blamed_on_the_token_the_probe_draws_most_often() -> None:
    found = Row("survival_bias", naive, transport, "113/500").run()
    assert found.first_token_total_variation == Fraction(1, 5)
    assert (found.witness.context, found.witness.token) == ((), 1)
    assert (found.witness.emitted, found.witness.target) == (Fraction(7, 10), Fraction(1, 2))  # by hand
    reads_no_claim = Row("survival_bias", naive, matching, "0").run()
    assert reads_no_claim.total_variation == 0 and reads_no_claim.false_claims > 0


@pytest.mark.distribution
def test_survival_bias_tells_the_verifiers_apart_by_length() -> None:
    module = toy("survival_bias")
    lengths = [verify(module.pair, rheo, v, module.shape).expected_length for v in (matching, recursive, transport)]
    assert lengths == [Fraction(1152, 625), Fraction(2611, 1250), Fraction(53, 25)]


@pytest.mark.distribution
def test_context_dependent_is_exact_in_its_first_token() -> None:
    for verifier in (recursive, transport):
        found = Row("context_dependent", naive, verifier, "").run()
        assert found.first_token_total_variation == 0
        assert len(found.witness.context) == 1


@pytest.mark.distribution
def test_second_round_is_exact_in_its_first_cycle() -> None:
    assert Row("second_round", stale_claims, recursive, "0").run().verdict == "lossless"


@pytest.mark.distribution
def test_target_zeros_lets_an_impossible_token_through() -> None:
    found = Row("target_zeros", rheo, inclusive_coin, "1/1024", shape={"depth": 1}).run()
    assert (found.witness.token, found.witness.emitted, found.witness.target) == (0, Fraction(1, 1024), 0)


@pytest.mark.distribution
def test_drafter_zeros_loses_the_token_that_is_never_proposed() -> None:
    module = toy("drafter_zeros")
    for verifier, mass in ((recursive, Fraction(1, 4)), (cut_residual, 0)):
        decoder = Decoder(module.pair, rheo, verifier, module.shape)
        blocks = [(weight, block) for weight, block, _ in outcomes(lambda chance, d=decoder: d.cycle((), chance))]
        assert sum(weight for weight, block in blocks if block[0] == 3) == mass


@pytest.mark.distribution
def test_one_hot_collapse_as_the_temperature_rises() -> None:
    module = toy("one_hot_collapse")
    fixed, hot, drawn = [], [], []
    for temperature in (0.5, 1.0, 2.0, 4.0, 8.0):
        pair = module.at(temperature)
        found = [verify(pair, builder, transport, module.shape) for builder in (top_k, one_hot_claims, rheo)]
        assert [result.total_variation for result in found] == [0, 0, 0]
        assert found[0].acceptance == found[0].optimal_acceptance  # no better verifier would help
        for column, result in zip((fixed, hot, drawn), found, strict=True):
            column.append(round(float(result.acceptance.root), 3))
    assert fixed == [0.991, 0.923, 0.762, 0.593, 0.486]  # the table of the docstring
    assert hot == [0.991, 0.923, 0.753, 0.575, 0.471]
    assert drawn == [0.993, 0.969, 0.956, 0.966, 0.980]
    assert module.at(1.0) == module.pair


@pytest.mark.distribution
def test_one_lead_is_best() -> None:
    """The table of the docstring; `naive`, the fault, is longer than its trees allow at every m where it is biased."""
    module = toy("one_lead")
    fixed, slots, drawn = sweep(module.pair, "m", range(4), shape=module.shape).curves
    assert {point.expected_length for point in fixed.points} == {Fraction(199, 100)}
    for curve, lengths in ((slots, [2.422, 2.591, 2.353, 2.207]), (drawn, [2.422, 2.885, 2.405, 2.240])):
        assert curve.best.value == 1 and {point.total_variation for point in curve.points} == {0}
        assert [round(float(point.expected_length), 3) for point in curve.points] == lengths
    assert [point.probe_survival for point in drawn.points] == [1, 1, Fraction(26, 33), Fraction(20, 29)]
    assert drawn.at(1).levels == (Fraction(173, 180), Fraction(173, 180))  # by hand
    for layer in range(2):
        assert fixed.at(1).levels[layer] < slots.at(1).levels[layer] < drawn.at(1).levels[layer]
    control = sweep(module.pair, "m", range(4), [Method("naive", naive, transport)], module.shape).curves[0]
    assert [point.biased for point in control.points] == [True, True, True, False]
    assert all(point.expected_length > point.ceiling for point in control.points[:3])


@pytest.mark.distribution
def test_one_lead_as_the_temperature_rises() -> None:
    module = toy("one_lead")
    fixed, _, drawn = sweep(module.pair, "T", [0, 0.25, 0.5, 1, 2, 100], shape=module.shape).curves
    roots = [point.acceptance.root for point in fixed.points]
    assert roots == sorted(roots, reverse=True) and roots[0] == 1 and abs(roots[-1] - Fraction(2, 3)) < Fraction(1, 100)
    assert drawn.points[0].acceptance.root == drawn.points[-1].acceptance.root == 1


@pytest.mark.distribution
def test_one_sided_truncation_is_off_by_nearly_all_that_was_cut() -> None:
    module = toy("one_sided_truncation")
    uncut = Pair.from_logits({(): module.DRAFT}, {(): module.TARGET}, top=None)
    assert module.pair.q(())[128:] == (0, 0, 0, 0) and min(module.pair.q(())[:128]) > 0
    assert module.pair.p(()) == uncut.p(()) and min(module.pair.p(())) > 0
    found = Row("one_sided_truncation", uncut_claims, transport, "").run()
    assert found.verdict == "biased"
    assert Fraction(93, 10_000) < found.total_variation < sum(uncut.q(())[128:]) < Fraction(94, 10_000)
    assert found.witness.token >= 128 and found.witness.emitted < found.witness.target


@pytest.mark.distribution
def test_unequal_residual_has_every_sign() -> None:
    pair = toy("unequal_residual").pair
    gains = [p - q for p, q in zip(pair.p(()), pair.q(()), strict=True)]
    assert gains[0] < 0 < gains[1] and gains[2] > 0 == gains[3]
    assert pair.q(()) == toy("single_residual").pair.q(())

"""Cases that are computed twice: by rheocheck.exact, and inside Coq by an evaluator that is proved exact.

A case becomes a Coq file that states, for every word of D+1 tokens, the chance that one cycle, completed by the target,
spells it - with the number that rheocheck.exact found - and proves it by computation.

A faulty builder under `recursive` is a case only if it never keeps a fill that outranks its probe: Coq would hand the
two to the verifier best first, the code by slot.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

from rheocheck.core import Pair, Shape, matching, naive, recursive, top_k
from rheocheck.core.builders import rheo
from rheocheck.core.verifiers import rheo as rheo_verifier
from rheocheck.exact import Walk, forest_of
from tests.faulty import token_ties
from tests.oracle import completed

VERIFIERS = {matching: "Matching", recursive: "Recursive", rheo_verifier: "RheoVerification"}


def low_proxy(q, K, m):
    """RheoSampling whose probe stands at 4/5 of its weight, which may be below its fills."""
    return [slot if slot.law is None else replace(slot, weight=slot.weight * Fraction(4, 5)) for slot in rheo(q, K, m)]


# builder: (its probe's weight, its ties, its leads given a shape)
BUILDERS = {
    rheo: ("Rheo", "no_tie", lambda shape: shape.leads),
    top_k: ("Rheo", "no_tie", lambda shape: shape.branching),
    naive: ("Naive", "no_tie", lambda shape: shape.leads),
    token_ties: ("Rheo", "by_token", lambda shape: shape.leads),
    low_proxy: ("(Low (4%:Q / 5%:Q))", "no_tie", lambda shape: shape.leads),
}


@dataclass(frozen=True)
class Case:
    """One pair with its sizes, a builder and a verifier, of which Coq knows all four."""

    pair: Pair
    shape: Shape
    builder: object
    verifier: object

    def emission(self):
        """The cycle from the start, by rheocheck.exact."""
        forest = forest_of(self.pair, self.builder, (), self.shape)
        return Walk(self.pair, forest, self.verifier).emission(())

    def law(self):
        """{word of D+1 tokens: its chance}; zeros included."""
        stops = self.emission().stops
        length = self.shape.depth + 1
        words = completed(self.pair, stops, length)
        return {word: words.get(word, Fraction(0)) for word in product(range(self.pair.vocab_size), repeat=length)}


def coq_file(case, law, mean_length):
    """The Coq file that proves the law of a case, and the expected length of its block."""
    V, shape = case.pair.vocab_size, case.shape
    weight, tie, leads = BUILDERS[case.builder]
    sizes = f"{leads(shape)} {shape.branching} {shape.width} {shape.depth} {shape.nodes}"
    decoder = f"{weight} (@{tie} {_over(tie, V)}) {VERIFIERS[case.verifier]} q p {sizes}"
    table = ";\n  ".join(f"([:: {'; '.join(f't{x}' for x in word)}], {_number(mass)})" for word, mass in law.items())
    tokens = "\n".join(f"Definition t{x} : 'I_{V} := @Ordinal {V} {x} isT." for x in range(V))
    return f"""From mathcomp Require Import all_ssreflect all_algebra.
From rheocheck Require Import laws walk explore renaming evaluator pairs counterexamples.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
{tokens}
Definition q : seq 'I_{V} -> 'I_{V} -> rat := {_model(case.pair.draft)}.
Definition p : seq 'I_{V} -> 'I_{V} -> rat := {_model(case.pair.target)}.
Lemma q_law s : is_law (q s).
Proof. by apply: (model_law _ vocab{V}E); vm_compute. Qed.
Lemma p_law s : is_law (p s).
Proof. by apply: (model_law _ vocab{V}E); vm_compute. Qed.
Definition table : seq (seq 'I_{V} * rat) := [::
  {table}].
Theorem same_law e : e \\in table -> emitted {decoder} e.1 = e.2.
Proof. by apply: (@emitted_table _ _ vocab{V} _ _ _ _ _ _ _ _ _ _ t0 60 _ vocab{V}E q_law); vm_compute. Qed.
Theorem same_length : mean_length {decoder} = {_number(mean_length)}.
Proof. by apply: (@mean_length_evaluate _ _ vocab{V} _ _ _ _ _ _ _ _ _ _ t0 60 _ vocab{V}E q_law); vm_compute. Qed.
Print Assumptions same_law.
Print Assumptions same_length.
"""


def _over(tie, V):
    return f"'I_{V}" if tie == "no_tie" else str(V)


def _model(rows):
    others = [
        f"([:: {'; '.join(f'{x}%N' for x in context)}], {_row(row)})" for context, row in rows.items() if context != ()
    ]
    return f"model {_row(rows[()])} [:: {'; '.join(others)}]" if others else f"model {_row(rows[()])} [::]"


def _row(row):
    return f"[:: {'; '.join(map(_number, row))}]"


def _number(x):
    x = Fraction(x)
    return f"{x.numerator}%:Q / {x.denominator}%:Q" if x else "0"

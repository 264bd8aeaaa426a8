"""Every hypothesis is needed: take one away, or flip the order of ties, and the build fails where it was used."""

import re
import shutil

import pytest

from tests.proofs.coq import listed, make, needs_coq

pytestmark = [pytest.mark.proofs, needs_coq]

# (what is done, file, text, replacement, the file whose proof then fails)
EXPERIMENTS = [
    (
        "ties go to the younger sibling",
        "ranking.v",
        "(nat *l nat))))%type",
        "(nat *l nat^d))))%type",  # nat upside down
        "precedence.v",
    ),
    (
        "ties may look at the token",
        "precedence.v",
        "Hypothesis tie_blind : forall x y, tie x = tie y.",
        "Hypothesis tie_blind : forall x : T, tie x = tie x.",
        "precedence.v",
    ),
    (
        "the weight of a slot may look at its token",
        "rank_invariance.v",
        "Hypothesis wt_blind : forall s h x y, wt s h x = wt s h y.",
        "Hypothesis wt_blind : forall s h x, wt s h x = wt s h x.",
        "rank_invariance.v",
    ),
    (
        "a fill may rank above the probe",
        "ranking.v",
        "(forall j, (j < i)%N -> w i <= w j)",
        "(forall j, (j < i)%N -> 0 <= w j)",
        "rank_invariance.v",
    ),
    (
        "a weight may exceed 1",
        "ranking.v",
        "0 <= w i <= 1",
        "0 <= w i",
        "precedence.v",
    ),
    (
        "a node may hold a token twice",
        "ranking.v",
        "& Y s (sib Y s i) \\notin sib Y s i]",
        "& true]",
        "kept.v",
    ),
    (
        "the probe weighs z, and may outrank the last lead",
        "rule.v",
        "Num.min (q s (last a h')) (tail s h)",
        "tail s h",
        "steep.v",
    ),
    (
        "the verifier's claim is not the law of the draw",
        "walk.v",
        "Hypothesis rule_honest : honest claim rule.",
        "Hypothesis rule_honest : honest (fun k => p (ctx k)) rule.",
        "walk.v",
    ),
]


@pytest.mark.parametrize(
    ("file", "text", "replacement", "where"), [row[1:] for row in EXPERIMENTS], ids=[row[0] for row in EXPERIMENTS]
)
def test_the_build_fails(built, tmp_path, file, text, replacement, where):
    copy = tmp_path / "proofs"
    shutil.copytree(built, copy)
    source = (copy / file).read_text()
    assert source.count(text) == 1
    (copy / file).write_text(source.replace(text, replacement))
    code, printed = make(copy, "build")
    failed = re.findall(r'File "\./(\w+\.v)", line', printed)
    assert code != 0 and failed == [where], printed[-2000:]
    assert "Syntax error" not in printed
    assert where in listed()

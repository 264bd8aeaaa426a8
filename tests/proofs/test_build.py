"""The proofs build, no headline theorem is missing, and none of them assumes anything."""

import re

import pytest

from tests.proofs.coq import CLOSED, PROOFS, coqc, listed, needs_coq, theorems

pytestmark = [pytest.mark.proofs, needs_coq]

# The theorems that the toolkit stands on. A name may be added here; one that vanishes is a claim withdrawn.
HEADLINES = [
    "one_draft_exact",
    "matching_node_exact",
    "recursive_node_exact",
    "rheo_node_exact",
    "one_hot_collapse",
    "no_tilt",
    "path_product",
    "matching_any_tree",
    "next_slot_is_predictable",
    "survival_is_blind",
    "frontier_survival_is_blind",
    "survivors_are_a_slot_prefix",
    "best_first_is_layer_wise",
    "blind_ranking_is_lossless",
    "certificate_is_sound",
    "honest_verifiers_are_certified",
    "rheo_sampling_is_lossless",
    "rheo_sampling_with_recursive",
    "rheo_sampling_with_rheo",
    "top_k_is_lossless",
    "honest_over_cycles",
    "rheo_sampling_over_cycles",
    "recursive_over_cycles",
    "rheo_sampling_program_is_lossless",
    "rheo_sampling_block_law",
    "rheo_sampling_expected_block_length",
    "block_completed",
    "walk_program_law",
    "block_program_law",
    "expected_block_length",
    "one_hot_ceiling",
    "acceptance_bound",
    "rheo_attains_the_bound",
    "evaluator_is_exact",
    "length_evaluator_is_exact",
    "naive_ranking_is_biased",
    "token_ties_are_biased",
    "low_proxy_is_biased",
]
ESCAPES = r"\b(Admitted|admit|Axioms?|Parameters?|Conjecture|Hypothesis\s*:|Unset Guard Checking|bypass_check)\b"


def test_every_headline_is_stated_and_printed():
    stated = theorems((PROOFS / "statements.v").read_text())
    printed = re.findall(r"^Print Assumptions (\w+)\.", (PROOFS / "assumptions.v").read_text(), re.M)
    assert stated == HEADLINES
    assert printed == HEADLINES


def test_every_file_is_built_and_none_leaves_a_gap():
    assert sorted(listed() + ["assumptions.v"]) == sorted(path.name for path in PROOFS.glob("*.v"))
    for name in listed():
        escape = re.search(ESCAPES, (PROOFS / name).read_text())
        assert escape is None, f"{name}: {escape}"


def test_nothing_is_assumed(built, capsys):
    """Print Assumptions of every headline theorem says that it is closed."""
    code, printed = coqc(built / "assumptions.v")
    assert code == 0, printed
    with capsys.disabled():
        print()
        for name, line in zip(HEADLINES, printed.splitlines(), strict=False):
            print(f"  {name}: {line}")
    assert printed.splitlines() == [CLOSED] * len(HEADLINES), printed


def test_an_axiom_would_show(built, tmp_path):
    """The check can fail: a theorem from an axiom is not closed."""
    file = tmp_path / "gap.v"
    file.write_text("Axiom gap : 0 = 1.\nTheorem absurd : 0 = 1.\nProof. exact gap. Qed.\nPrint Assumptions absurd.\n")
    code, printed = coqc(file)
    assert code == 0 and CLOSED not in printed and "gap" in printed

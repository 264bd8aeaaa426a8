"""Toy pairs: one file each, named after the failure it shows, reached by name ("toy_models.survival_bias:pair").

Every module has `pair`, and `shape`, the sizes of a tree in which the failure shows (or hides).

survival_bias         A draw ranked by its own probability survives the cut more often when likely: its claim lies.
one_hot_collapse      Fixed tokens stay exact but lose their acceptance as the temperature rises: one-hot collapse.
lead_probe_tie        The probe ties the last lead by construction: a tie broken by token id makes its claim false.
drafter_zeros         A token the drafter never proposes is lost when the residual is cut to the drafter's support.
target_zeros          A token the target forbids gets through an accept test that lets a coin of zero pass.
same_law              Hides every fault of the accept test and the residual: with p = q a draw is always accepted.
peaked                Hides survival bias: a drafter this sure fills a small tree with leads, and no probe is kept.
flat_drafter          Hides survival bias, since every rank is a tie, and shows the tie broken by token id.
context_dependent     The first token is exact and only later ones are biased: a test of one token passes the fault.
near_equal            Accepting everything is biased by exactly 1/1000000: far too little to sample, and not zero.
small_support         More slots than the drafter has tokens: claiming a fresh draw is false once tokens are put back.
one_sided_truncation  The drafter is cut to 128 tokens, the target is not: claiming the drafter's uncut law is false.
exact_ties            Scores tie all over the tree, so preferring the likelier draw at a tie is survival bias again.
unequal_residual      The residual keeps two tokens of unequal q: claiming as if siblings were put back is false.
single_residual       Hides false claims of later siblings: every residual is one and the same single token.
second_round          The first cycle is exact and the next is not: stale claims pass every test of one cycle.
one_lead              One lead is best: none leaves the sure token to a draw, and two leave the probe too little room.

`random_family` draws pairs from a seed. To add a pair: one file, one sentence, one line here and in NAMES.
"""

NAMES = (
    "survival_bias",
    "one_hot_collapse",
    "lead_probe_tie",
    "drafter_zeros",
    "target_zeros",
    "same_law",
    "peaked",
    "flat_drafter",
    "context_dependent",
    "near_equal",
    "small_support",
    "one_sided_truncation",
    "exact_ties",
    "unequal_residual",
    "single_residual",
    "second_round",
    "one_lead",
)

"""What interception hands out has the law of what it stands for: standins.py says how, STANDINS.md what was measured.

Null hypothesis of a followed entry: its real draws have the enumerated law; chi-square, alpha 1e-9 an entry, seeds
fixed by its name. QUICK draws find a TV of 0.03 (two outcomes) to 0.08 (870), DRAWS one of 0.005 to 0.013, each with
power 99.9 %. A refused entry must differ from what would have been claimed, by the same test, at DRAWS.
"""

import re

import pytest

from rheocheck.intercept import NotUnderstood, sampling, symbols
from rheocheck.intercept.sources import jax as on_jax
from rheocheck.intercept.sources import torch as on_torch
from tests.intercept.standins import ALPHA, COMMAND, DRAWS, LIBRARIES, PAGE, compare, standins

QUICK = 20_000
ENTRIES = [entry for library in LIBRARIES for entry in standins(library)]
FOLLOWED = [entry for entry in ENTRIES if entry.claimed is None]
REFUSED = [entry for entry in ENTRIES if entry.claimed is not None]


def each(entries):
    return pytest.mark.parametrize("entry", entries, ids=[entry.name for entry in entries])


def named(name):
    (entry,) = (entry for entry in ENTRIES if entry.name == name)
    return entry


@pytest.mark.distribution
@each([entry for entry in FOLLOWED if entry.quick])
def test_real_draws_have_the_law_that_is_enumerated(entry):
    found = compare(entry.real(QUICK), entry.enumerated())
    assert found.test.p_value >= ALPHA, (found.tv, found.by_chance)


@pytest.mark.slow
@pytest.mark.distribution
@each(FOLLOWED)
def test_a_million_real_draws_have_the_law_that_is_enumerated(entry):
    found = compare(entry.real(DRAWS), entry.enumerated())
    assert found.test.p_value >= ALPHA, (found.tv, found.by_chance)


@pytest.mark.distribution
@each(REFUSED)
def test_what_differs_is_refused_by_its_type(entry):
    with pytest.raises(NotUnderstood, match=f"(?s){entry.dtype}.*float32"):
        entry.enumerated()


@pytest.mark.slow
@pytest.mark.distribution
@each(REFUSED)
def test_what_is_refused_differs(entry):
    found = compare(entry.real(DRAWS), entry.claimed)
    assert found.test.p_value < ALPHA, (found.tv, found.by_chance)


def test_the_page_that_is_kept_lists_every_entry():
    """`python -m tests.intercept.standins` writes it anew."""
    page = PAGE.read_text()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if "followed |" in line
            or "refused |" in line]  # fmt: skip
    kept = {", ".join(row[:3]): row for row in rows}
    assert set(kept) == {entry.name for entry in ENTRIES} and len(rows) == len(ENTRIES)
    assert COMMAND in page and re.search(rf"\d{{4}}-\d\d-\d\d; Python .*torch .*{DRAWS:,} real draws", page)
    for entry in ENTRIES:
        stand_in, tv, p_value = kept[entry.name][3], float(kept[entry.name][4]), float(kept[entry.name][6])
        assert stand_in == ("followed" if entry.claimed is None else "refused")
        assert (p_value >= ALPHA) == (entry.claimed is None), entry.name
        assert entry.claimed is None or tv > 0.001, entry.name


# ---- planted faults: a wrong stand-in is found ----------------------------------------------------------------------

indices, lazy_indices, coins, integers = (
    sampling.indices, sampling.lazy_indices, sampling.coins, sampling.integers,
)  # fmt: skip
exponentials = symbols.exponentials
PLANTED = {
    "weights in the wrong order": (
        sampling, "lazy_indices", lambda run, rows, *rest: lazy_indices(run, [row[::-1] for row in rows], *rest),
        "torch.multinomial, bfloat16, one of each row", QUICK,
    ),
    "what was drawn is put back": (
        sampling, "indices", lambda run, w, n, replace, name: indices(run, w, n, True, name),
        "numpy Generator.choice, float64, two by weights, without replacement", QUICK,
    ),
    "coins that fall too seldom": (
        sampling, "coins", lambda run, p: coins(run, p * 0.8),
        "torch.bernoulli, float16, four coins by a tensor of probabilities", QUICK,
    ),
    "the last integer is never drawn": (
        sampling, "integers", lambda run, low, high, *rest: integers(run, low, high - 1, *rest),
        "torch.randint, int64, one of -5..4, plus 5", QUICK,
    ),
    "an order that is no order": (
        sampling, "permutation", lambda run, n, name: indices(run, [1] * n, n, True, name),
        "numpy RandomState.permutation, int64, an order of four", QUICK,
    ),
    "the rate of a clock forgotten": (
        symbols, "exponentials", lambda run, shape, rate=1: exponentials(run, shape),
        "Tensor.exponential_, float32, the cell of a clock of rate 2", QUICK,
    ),
    "halves taken for reals": (
        on_jax, "_half", lambda *rest, **refused: False,
        "jax.random.categorical, bfloat16, one by logits", 10 * QUICK,
    ),
    "coins of halves taken for reals": (
        on_jax, "_half", lambda *rest, **refused: False,
        "jax.random.bernoulli, bfloat16, four coins", QUICK,
    ),
}  # fmt: skip


@pytest.mark.distribution
@pytest.mark.parametrize("name", PLANTED)
def test_a_wrong_stand_in_is_found(monkeypatch, name):
    module, attribute, wrong, sampler, draws = PLANTED[name]
    entry = named(sampler)
    real = entry.real(draws)
    assert compare(real, entry.enumerated()).test.p_value >= ALPHA
    monkeypatch.setattr(module, attribute, wrong)
    assert compare(real, entry.enumerated()).test.p_value < ALPHA


def test_torch_draws_by_the_sampling_that_the_faults_are_planted_in():
    assert on_torch.sampling is sampling and on_jax.sampling is sampling

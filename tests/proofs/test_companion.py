"""The companion of the proofs runs, names theorems that exist, and names every headline theorem."""

import re

import pytest

from tests.proofs.coq import PROOFS, theorems

PAGES = sorted(PROOFS.glob("0*.md"))
NAMED = re.compile(r"`(\w+)`\*{0,2}(?:\s*\(|,\s)(\w+\.v)")


def blocks(page):
    return re.findall(r"```python\n(.*?)```", page.read_text(), re.S)


def test_the_pages_are_there():
    assert [page.name for page in PAGES] == [
        "01-one-token.md",
        "02-honest-claims.md",
        "03-one-hot-collapse.md",
        "04-survival-bias.md",
        "05-two-identities.md",
        "06-equivalence-classes.md",
    ]
    assert all(blocks(page) for page in PAGES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_python(page):
    """The blocks of a page, in one namespace."""
    names = {"__name__": "companion"}
    for block in blocks(page):
        exec(compile(block, page.name, "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_theorem_named_exists(page):
    named = NAMED.findall(page.read_text())
    assert named
    for name, file in named:
        assert re.search(rf"^(Theorem|Lemma|Corollary|Definition) {name}\b", (PROOFS / file).read_text(), re.M), name


def test_every_headline_is_told():
    told = {name for page in PAGES for name, _ in NAMED.findall(page.read_text())}
    assert set(theorems((PROOFS / "statements.v").read_text())) <= told


@pytest.mark.parametrize("page", [*PAGES, PROOFS / "README.md"], ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        assert "://" in target or (PROOFS / target).exists(), target

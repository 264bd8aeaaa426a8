"""Every extra that reaches torch carries the bound itself, and the wheel holds what it should."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]
BOUND = "torch>=2.13,<2.14"


def name_of(requirement):
    return re.split(r"[<>=!~;\[ ]", requirement, maxsplit=1)[0].lower()


def reaches_torch(name, seen):
    """Whether installing a distribution may install torch, by the metadata of what is installed here.

    An optional dependency of a third party counts as a reach: transformers asks for torch in an extra alone, but a
    user who asks for us wants the working thing."""
    if name == "torch":
        return True
    if name in seen:
        return False
    seen.add(name)
    try:
        needed = requires(name) or []
    except PackageNotFoundError:
        return False
    if any(name_of(r) == "torch" for r in needed):
        return True
    return any(reaches_torch(name_of(r), seen) for r in needed if "extra ==" not in r)


@pytest.mark.parametrize("extra", EXTRAS)
def test_extras_that_reach_torch_carry_the_bound(extra):
    if any(reaches_torch(name_of(r), set()) for r in EXTRAS[extra]):
        assert BOUND in EXTRAS[extra]
        assert EXTRAS[extra][0] == BOUND  # and first, so that nothing that needs torch is resolved before it


def test_the_check_sees_transformers():
    assert reaches_torch("transformers", set())
    assert not reaches_torch("click", set())


def test_no_runtime_dependency_reaches_torch():
    assert not any(reaches_torch(name_of(r), set()) for r in PROJECT["project"]["dependencies"])


def test_wanted_extras_and_ranges():
    named = {"fast", "jax", "torch", "hf", "flashspec", "seqspecdecod", "parquet", "plots", "bench", "test", "all"}
    assert named <= set(EXTRAS)
    assert "transformers>=5.24,<6" in EXTRAS["hf"]
    for extra in ("jax", "torch", "hf", "flashspec", "seqspecdecod", "fast", "parquet", "plots", "bench"):
        assert set(EXTRAS[extra]) <= set(EXTRAS["all"]), extra
        assert set(EXTRAS[extra]) <= set(EXTRAS["test"]), extra


def test_the_extra_of_smollm2_is_enough_for_generate():
    """The README installs it alone."""
    assert {*EXTRAS["torch"], *EXTRAS["hf"]} <= set(EXTRAS["smollm2"])

"""The shapes that annotations promise, checked at run time by jaxtyping and beartype, each in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

HOOK = """
from jaxtyping import install_import_hook
with install_import_hook("rheocheck.{package}", "beartype.beartype"):
    import rheocheck.{package} as package
"""
REFERENCE = """
for builder, verifier in zip(package.BUILDERS, package.VERIFIERS, strict=True):
    assert package.subject(builder=builder, verifier=verifier).sample((), 2, 10, 0).shape == (10, 2)
"""
PRODUCTION = """
import torch
for builder in package.BUILDERS:
    for verifier in package.VERIFIERS:
        for walk in (False, True):
            subject = package.subject(builder=builder, verifier=verifier, walk=walk, dtype="bfloat16")
            assert subject.sample((), 2, 10, 0).shape == (10, 2)
from rheocheck.core import Shape
shape = Shape(leads=1, branching=10, depth=3, nodes=20)
noise = package.draw_noise(shape, 2, 5000)
root = torch.randn(2, 5000)
tree = package.build(root, lambda f: torch.randn(2, 10, 5000), shape, noise.probe, temperature=torch.tensor([0.0, 1.0]))
package.cut_at(package.verify(tree, torch.randn(2, 21, 5000), noise.coin, temperature=torch.tensor([0.0, 1.0])), 3)
"""
GENERATE = """
import torch
from rheocheck.adapters.tiny_models import tiny_llama
torch.set_num_threads(1)
requests = [
    package.Request(prompt=(1, 2, 3), max_new_tokens=9, top_p=0.9),
    package.Request(prompt=(4,), max_new_tokens=5, temperature=0.0),
    package.Request(prompt=(4, 5), max_new_tokens=7, top_k=3),
]
from rheocheck.production import BUILDERS
for builder in BUILDERS:
    found = package.generate(tiny_llama(8, 1), tiny_llama(8, 2), requests, builder=builder)
    assert [len(tokens) for tokens in found.tokens] == [9, 5, 7]
"""
WRONG = """
import torch
from rheocheck.production.tops import top_law
try:
    top_law(torch.zeros(3, 5), None, 4, 4)
except Exception as error:
    assert "BeartypeCallHint" in type(error).__name__ or "TypeCheck" in type(error).__name__, type(error)
else:
    raise SystemExit("a wrong shape went through")
"""


@pytest.mark.parametrize(
    ("package", "script"),
    [("reference", REFERENCE), ("production", PRODUCTION), ("generation", GENERATE), ("production", WRONG)],
)
def test_shapes_are_as_annotated(package, script):
    code = HOOK.format(package=package) + script
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parents[1], check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]

"""The fused kernel against its slow twin, on a CPU by Triton's interpreter; `-m slow`, with the extra triton.

The interpreter is chosen when triton is imported, so the comparison runs in a process of its own.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="needs the extra triton"),
]
SCRIPT = """
import torch
from rheocheck.core import InputError, Shape
from rheocheck.production import BUILDERS, build, draw_noise
from rheocheck.production.fused import fused_step
from tests.production.toy_batch import rows, seeing_drafter

B = 4
for m, K, F, D, N, V, scale in [
    (1, 4, 4, 3, 10, 40, 3.0), (0, 3, 3, 3, 8, 200, 3.0), (2, 10, 10, 4, 30, 500, 3.0), (1, 10, 10, 8, 59, 2000, 2.0),
    (1, 3, 2, 3, 9, 3, 3.0), (3, 4, 9, 3, 20, 50, 3.0), (1, 4, 4, 3, 12, 64, 0.0), (1, 4, 4, 2, 9, 64, 60.0),
]:
    shape = Shape(leads=m, branching=K, depth=D, nodes=N, frontier=F)
    root, drafter = seeing_drafter(shape, B, V, scale=scale)
    probe = draw_noise(shape, B, V, generator=torch.Generator().manual_seed(m)).probe
    slow = build(root, drafter, shape, probe)
    fused = build(root, drafter, shape, probe, step=fused_step)
    for name in ("token", "parent", "position", "mask", "valid", "child", "row", "tail"):
        assert torch.equal(getattr(slow, name), getattr(fused, name)), (shape, name)
    torch.testing.assert_close(slow.slot_claim, fused.slot_claim)
    torch.testing.assert_close(slow.tail_claim, fused.tail_claim)
for wrong in ({"builder": BUILDERS["naive"]}, {}):
    try:
        root, probe = rows(1, 2, 9, 0)[0].double(), draw_noise(Shape(), 2, 9).probe
        build(root, lambda f: None, Shape(), probe, step=fused_step, **wrong)
    except InputError as error:
        assert "must get the rheo builder and float32" in str(error)
    else:
        raise SystemExit("not refused")
"""


def test_the_kernel_builds_the_twins_trees():
    """Ties everywhere, peaked laws, more slots than tokens, a first layer that is too small."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]


def test_without_triton_one_line_says_what_to_install():
    code = (
        "import sys; sys.modules['triton'] = None\n"
        "from rheocheck.core import MissingExtra\n"
        "try:\n    import rheocheck.production.fused\n"
        "except MissingExtra as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert "pip install 'rheocheck[triton]'" in done.stdout, done.stderr[-2000:]

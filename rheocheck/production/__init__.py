"""RheoSampling on torch: batched tree building and verification without a host synchronisation inside a cycle.

    noise    uniforms of a cycle, from one generator or one a row
    tops     the drafter's best tokens: top 128 of the logits, then the softmax
    slots    what the nodes of a layer propose: top_k, rheo, naive
    build    the layers, driven by a drafter callback
    tree     the N best: tokens, parents, positions, ancestor mask
    target   the target's probabilities where they are asked for
    decide   verification at a node: matching, recursive, rheo
    verify   all nodes at once, or a walk; then one draw over the vocabulary
    subject  the same as a subject of an audit
    filters  temperature, top_k, top_p of the target

    noise = draw_noise(shape, batch, vocab)
    tree = build(root_logits, drafter, shape, noise.probe)       # drafter(Frontier) -> logits [B, F, V]
    out = verify(tree, target_logits, noise.coin)                # target logits [B, N+1, V]

Shapes are static: cycles of one shape can be captured in a CUDA graph, after one that is not captured and makes the
constants (kept for good, since a graph reads them where they are). Arithmetic is float32 for float32, bfloat16 and
float16 logits, float64 for float64; coins are float64. `rheocheck.formats.noise` says how noise is read. Needs the
extra `torch`.

What is taken on trust, since looking would synchronise: logits hold no NaN and no +inf, and one finite entry a row
(`rheocheck.generation` does look, once a cycle).
Mask with -inf (top-k or top-p of the target: filter its logits before they come here).
"""

from rheocheck.core.errors import MissingExtra

try:
    import jaxtyping  # noqa: F401
    import torch  # noqa: F401
except ImportError as error:
    raise MissingExtra(
        f"rheocheck.production must have torch and jaxtyping, {error.name} is missing: pip install 'rheocheck[torch]'"
    ) from error

from rheocheck.production.build import Frontier, build
from rheocheck.production.decide import VERIFIERS, matching, recursive
from rheocheck.production.decide import rheo as rheo_verifier
from rheocheck.production.noise import CycleNoise, draw_noise
from rheocheck.production.slots import BUILDERS, naive, rheo, top_k
from rheocheck.production.subject import ProductionSubject, subject
from rheocheck.production.tree import DraftTree
from rheocheck.production.verify import Emitted, cut_at, verify

__all__ = [
    "BUILDERS",
    "CycleNoise",
    "DraftTree",
    "Emitted",
    "Frontier",
    "ProductionSubject",
    "VERIFIERS",
    "build",
    "cut_at",
    "draw_noise",
    "matching",
    "naive",
    "recursive",
    "rheo",
    "rheo_verifier",
    "subject",
    "top_k",
    "verify",
]

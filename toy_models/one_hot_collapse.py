"""Fixed tokens stay exact but lose their acceptance as the temperature rises: one-hot collapse.

A token that was not drawn has a one-hot claim, and no verifier can accept it more often than p(token): `top_k` with
three of eight tokens accepts p(its tokens), which goes to 3/8 as everything flattens. A draw is accepted with
probability up to sum min(p, q~), which goes to 1. Nothing here is biased; the failure is on the other axis, speed.
Acceptance at the root, K = 3, m = 0, and of the same `rheo` trees if their draws are claimed one-hot:

    temperature              1/2      1      2      4      8
    top_k, any verifier    0.991  0.923  0.762  0.593  0.486     the optimum for its claims
    rheo, one-hot claims   0.991  0.923  0.753  0.575  0.471
    rheo, verifier rheo    0.993  0.969  0.956  0.966  0.980

`pair` is at(1.0).
"""

from rheocheck.core import Pair, Shape

DRAFT = [4.0, 3.0, 2.0, 1.0, 0.0, -1.0, -2.0, -3.0]
TARGET = [3.5, 3.5, 1.5, 1.5, -0.5, -0.5, -2.5, -2.5]  # the drafter's, its odd gaps closed: close, never equal


def at(temperature: float) -> Pair:
    """Both models at one temperature."""
    return Pair.from_logits({(): DRAFT}, {(): TARGET}, temperature=temperature)


pair = at(1.0)
shape = Shape(leads=0, branching=3, depth=1, nodes=3)

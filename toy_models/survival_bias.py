"""A draw ranked by its own probability survives the cut more often when likely: its claim lies.

This is the pair of `rheocheck demo`. With one lead the root of `naive` holds token 0 (rank 1/2) and a probe Y drawn
from q~ = (0, 3/5, 1/5, 1/5). The four nodes that are kept rank 1/2, 3/10, 1/4, 3/20, and Y ranks 3/10 when it drew
token 1 but 1/10 when it drew 2 or 3: it is kept exactly when it drew token 1, while its claim still says 3/5. Under
the `rheo` verifier token 1 is then emitted with probability

    3/5 * min(1, (1/2) / (3/5))  +  2/5 * 1/2  =  7/10        where the target says 1/2

and the block is off by a total variation of 0.226 (0.216 under `recursive`; 0 under `matching`, which reads no
claim). `top_k`, and `rheo` with 0, 1 or 2 leads, have 0 under all three.
"""

from rheocheck.core import Context, Law, Pair, Shape, normalise

LIKES = (5, 3, 1, 1)  # in tenths: the drafter's taste for token x, x+1, x+2, x+3 after token x
WANTS = (2, 5, 2, 1)  # the target's: less for the lead, more for the token the probe draws most often


def after(token: int, weights: tuple[int, ...]) -> tuple[int, ...]:
    """The weights turned so that their first entry stands on `token`."""
    return tuple(weights[(x - token) % 4] for x in range(4))


def model(weights: tuple[int, ...]) -> dict[Context, Law]:
    """A Markov chain that does after every token what it does at the start, turned; the start counts as token 0."""
    return {(): normalise(weights)} | {(x,): normalise(after(x, weights)) for x in range(4)}


pair = Pair(4, draft=model(LIKES), target=model(WANTS))
shape = Shape(leads=1, branching=3, depth=2, nodes=4)

"""What the command line tests name as module:attr."""

from rheocheck.core import Node, Pair, Slot, Tree, matching
from rheocheck.core.builders import rheo

pair = Pair(3, {(): ["1/2", "1/4", "1/4"]}, {(): ["1/3", "1/3", "1/3"]})


number = 7


def make_pair():
    return pair


def rule(q, K, m):
    return rheo(q, K, m)


def builder(pair, context, chance, shape):
    q = pair.q(context)
    return Tree((Node(chance.choose(q), 1, q),))


def verifier(p, children, chance):
    return matching(p, children, chance)


def heavy(q, K, m):
    return [Slot(token=0, weight=2)]


def broken(q, K, m):
    if q[4] == min(q):  # of the golden Markov pair's rows, that of context 2 is the first to come up
        raise KeyError("row")
    return rheo(q, K, m)


def treeless(pair, context, chance, shape):
    return [1, 2]


def stuck(p, children, chance):
    raise RuntimeError("no coins left")

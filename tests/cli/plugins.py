"""What the command line tests name as module:attr."""

import asyncio
import itertools
import sys
from fractions import Fraction

from rheocheck.core import Node, Pair, Slot, Tree, matching, one_hot
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


tiny = Pair(2, {(): ["1e-5000", 1 - Fraction("1e-5000")]}, {(): ["1/2", "1/2"]})
COUNTER = itertools.count()


def exits(pair, context, chance, shape):
    sys.exit(0)


def impure(pair, context, chance, shape):
    token = next(COUNTER) % 5
    return Tree((Node(token, 1, one_hot(5, token)),))


def impure_verifier(p, children, chance):
    return next(COUNTER) % 5, False if chance.flip(0.5) else float(next(COUNTER)) < 0


def endless(pair, context, chance, shape):
    while True:
        pass


def unsorted(pair, context, chance, shape):
    return Tree((Node(0, 2, one_hot(5, 0)), Node(1, 1, one_hot(5, 1))))


def lawless(pair, context, chance, shape):
    return Tree((Node(0, 1, (1, 1, 0, 0, 0)),))


def deep(pair, context, chance, shape):
    nodes = ()
    for _ in range(3000):
        nodes = (Node(0, 1, one_hot(5, 0), nodes),)
    return Tree(nodes)


def treeless(pair, context, chance, shape):
    return [1, 2]


def stuck(p, children, chance):
    raise RuntimeError("no coins left")


def cancelled(*_):
    raise asyncio.CancelledError("no more")


def gone(*_):
    raise BaseException("no more")

"""A token the target forbids gets through an accept test that lets a coin of zero pass.

p(0) = 0 and q(0) = 1/4: the coin must be compared with `<`, never `<=`. With a coin of 8 bits the inclusive test
accepts token 0 once in 256 proposals and emits it with probability 1/4 * 1/256 = 1/1024: too rare for a test of
frequencies with less than thousands of draws, yet a single sighting is proof. A real coin of 24 bits needs the exact
law or an injected coin.
"""

from rheocheck.core import Pair, Shape, normalise

pair = Pair(4, draft={(): normalise((2, 4, 1, 1))}, target={(): normalise((0, 2, 1, 1))})
shape = Shape(leads=0, branching=1, depth=2, nodes=2)

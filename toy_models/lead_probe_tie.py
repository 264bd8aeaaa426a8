"""The probe ties the last lead by construction: a tie broken by token id makes its claim false.

With one lead, q = (1/4, 1/2, 1/4) gives the lead (token 1) rank 1/2 and the probe min{1/2, z = 1/2} = 1/2 as well,
whatever it drew. One node is kept. By slot that is always the lead. By token id it is the probe when Y = 0 and the
lead when Y = 2: the kept probe is always token 0, its claim says (1/2, 0, 1/2), and token 0 is emitted with
probability 1/2 * 1 + 1/2 * 1/2 = 3/4 instead of 1/2. The tie is no matter of luck: it is there whenever
q(lead m) <= z, for every drafter.
"""

from rheocheck.core import Pair, Shape, normalise

pair = Pair(3, draft={(): normalise((1, 2, 1))}, target={(): normalise((2, 1, 1))})
shape = Shape(leads=1, branching=2, depth=1, nodes=1)

"""The drafter is cut to 128 tokens, the target is not: claiming the drafter's uncut law is false.

The vocabulary has 132 tokens. Four of them are never drawn, and every other one is drawn a little more often than
the uncut softmax says: dividing by the uncut q accepts too much, and the residual owes too little to the tokens that
were cut. The total variation is 0.00932, nearly all of the 0.00939 that was cut. Drafting with top-k over a real
vocabulary is this pair enlarged.
"""

from rheocheck.core import Pair, Shape

VOCAB_SIZE = 132
DRAFT = [-x / 64 for x in range(VOCAB_SIZE)]
TARGET = [-x / 128 for x in range(VOCAB_SIZE)]  # flatter: it wants the tokens that were cut

pair = Pair.from_logits({(): DRAFT}, {(): TARGET}, top=128)
shape = Shape(leads=0, branching=1, depth=1, nodes=1)

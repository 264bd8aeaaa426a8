"""Small subjects, laws and factories, named by the tests as "tests.audit.subjects:..."."""

import random
import time

import numpy as np

from rheocheck.core.pair import Pair

CHAIN = Pair(
    3,
    draft={(): ["1/3", "1/3", "1/3"]},
    target={(): ["1/2", "1/4", "1/4"], (0,): ["1/5", "2/5", "2/5"], (1,): ["0", "1/2", "1/2"]},
)
TWO = Pair(2, {(): ["1/2", "1/2"]}, {(): ["1/2", "1/2"]})


def chain_pair():
    return CHAIN


def chain_law(context):
    return [float(x) for x in CHAIN.p(tuple(context))]


def walk(choose, context, n_tokens):
    words = tuple(context)
    for _ in range(n_tokens):
        words += (choose(words),)
    return list(words[len(context) :])


def honest(context, n_tokens, seed):
    rng = random.Random(seed)
    return walk(lambda s: rng.choices(range(3), chain_law(s))[0], context, n_tokens)


def unseeded(context, n_tokens):
    return walk(lambda s: random.choices(range(3), chain_law(s))[0], context, n_tokens)


def biased(context, n_tokens, seed):
    """After token 0, token 1 gets 0.5 instead of 0.4; the first token is right."""
    rng = random.Random(seed)
    laws = {True: [0.2, 0.5, 0.3]}
    return walk(lambda s: rng.choices(range(3), laws.get(s[-1:] == (0,), chain_law(s)))[0], context, n_tokens)


def impossible(context, n_tokens, seed):
    """Emits 0 after 1, which the target never does, once in 100."""
    rng = random.Random(seed)
    law = [0.01, 0.49, 0.5]
    return walk(lambda s: rng.choices(range(3), law if s[-1:] == (1,) else chain_law(s))[0], context, n_tokens)


class Batched:
    """Draws many at once; calling it one by one is an error, so that a test sees which way was taken."""

    def __call__(self, context, n_tokens):
        raise AssertionError("sample() should have been used")

    def sample(self, context, n_tokens, samples, seed):
        rng = np.random.default_rng(seed)
        return np.array([walk(lambda s: rng.choice(3, p=chain_law(s)), context, n_tokens) for _ in range(samples)])


batched = Batched()


class SharedRows(Batched):
    """Every word has the right law, but one row in 30 copies the row before it."""

    def sample(self, context, n_tokens, samples, seed):
        words = super().sample(context, n_tokens, samples, seed)
        copies = 1 + np.flatnonzero(np.random.default_rng(seed + 1).random(samples - 1) < 1 / 30)
        words[copies] = words[copies - 1]
        return words


shared_rows = SharedRows()


class RepeatedSeed:
    """Every word has the right law, but one call in 30 draws with the seed of the call before."""

    def __init__(self):
        self.before = 0

    def __call__(self, context, n_tokens, seed):
        self.before = self.before if seed % 30 == 0 else seed
        return honest(context, n_tokens, self.before)


FIVE = Pair(
    5,
    draft={(): ["1/10", "1/5", "3/10", "1/4", "3/20"]},
    target={(): ["2/5", "1/4", "1/10", "1/20", "1/5"]},
)


def five_law(context):
    return [float(x) for x in FIVE.p(tuple(context))]


def unsubtracted(context, n_tokens, seed):
    """Speculative sampling with one draft, except that a rejected draft is replaced from p, not from (p - q)+."""
    rng = random.Random(seed)
    p, q = ([float(x) for x in row] for row in (FIVE.p(()), FIVE.q(())))

    def token(prefix):
        d = rng.choices(range(5), q)[0]
        return d if rng.random() < p[d] / q[d] else rng.choices(range(5), p)[0]

    return walk(token, context, n_tokens)


def slow(context, n_tokens, seed):
    """Takes its time, so that a test can stop it."""
    time.sleep(0.002)
    return honest(context, n_tokens, seed)


def mixture(*, weight=0.0, name="x"):
    """A factory: with probability `weight` the biased subject."""

    def subject(context, n_tokens, seed):
        chosen = biased if random.Random(seed + 1).random() < weight else honest
        return chosen(context, n_tokens, seed)

    return subject


def law_factory(*, weight=0.0):
    """A factory of a law; takes the same setting as `mixture`, and ignores how biased the subject is."""
    return chain_law


def broken_factory(*, weight=0.0):
    raise RuntimeError("no such weights")


not_callable = 7


def plainly_biased(context, n_tokens):
    """`biased` by the global generator."""
    laws = {True: [0.2, 0.5, 0.3]}
    return walk(lambda s: random.choices(range(3), laws.get(s[-1:] == (0,), chain_law(s)))[0], context, n_tokens)


def flipped(context, n_tokens):
    """One draft from the uniform law, accepted by a coin against CHAIN's; a rejected one is drawn from what is left."""

    def token(prefix):
        p = chain_law(prefix)
        draft = random.choices(range(3), [1, 1, 1])[0]
        left = [max(0.0, x - 1 / 3) for x in p]
        return draft if random.random() < 3 * p[draft] else random.choices(range(3), left)[0]

    return walk(token, context, n_tokens)


ROWS = (
    ("unseeded", unseeded, CHAIN),
    ("biased, as declared", plainly_biased, CHAIN, "lossy"),
    ("flipped", flipped, CHAIN, "lossless"),
    ("biased", plainly_biased, CHAIN),
)


def settings_matrix(*, rows=4):
    return ROWS[:rows]


no_rows = ()
bad_rows = (("honest", honest),)
misspelt = (("honest", honest, CHAIN, "losy"),)


def always_two(context, n_tokens):
    return [2] * n_tokens


def printing(context, n_tokens):
    """A subject that talks while it works."""
    print("hello")
    return unseeded(context, n_tokens)


def bad_id(context, n_tokens):
    """The CDF sums to 15/16, and what falls beyond it gets an id of no vocabulary."""
    x, s = random.random(), 0
    for i, w in enumerate([0.5, 0.25, 0.1875]):
        s += w
        if x < s:
            return [i]
    return [10**6]


def no_output(context, n_tokens):
    """Once in 16 draws nothing is left of the residual: the sampler refuses it."""
    return random.choices(range(3), [0, 0, 0] if random.random() < 1 / 16 else chain_law(()), k=1)


def stopping(context, n_tokens):
    """CHAIN's law; token 2 ends a text."""
    word = []
    while len(word) < n_tokens and 2 not in word:
        word.append(random.choices(range(3), chain_law((*context, *word)))[0])
    return word


def stopping_early(context, n_tokens):
    """The same, but half of the texts that begin with token 1 end there."""
    word = stopping(context, n_tokens)
    return word[:1] if word[0] == 1 and random.random() < 1 / 2 else word

"""The slow twin of the exact engine: whole cycles of the core decoder, replayed choice by choice.

It shares nothing with rheocheck.exact: no classes, no forest, no node laws.
"""

from fractions import Fraction

from rheocheck.core import Decoder, outcomes


def block_law(decoder, context=()):
    """{block: probability} of one cycle."""
    law = {}
    for weight, block, _ in outcomes(lambda chance: decoder.cycle(context, chance)):
        law[block] = law.get(block, 0) + weight
    return law


def target_law(pair, length, context=()):
    """{word: probability} of `length` tokens of plain target sampling."""
    words = {(): Fraction(1)}
    for _ in range(length):
        words = {
            (*w, y): mass * p for w, mass in words.items() for y, p in enumerate(pair.p((*context, *w))) if mass * p
        }
    return words


def completed(pair, law, length):
    """The law of the first `length` tokens when every block is completed by the target."""
    words = {}
    for block, mass in law.items():
        for rest, p in target_law(pair, max(length - len(block), 0), block).items():
            word = (*block, *rest)[:length]
            words[word] = words.get(word, 0) + mass * p
    return words


def words_of(decoder, length):
    """{word: probability} of the first `length` generated tokens, over as many cycles as they take."""
    words = {}
    for weight, tokens, _ in outcomes(lambda chance: decoder.generate((), length, chance)):
        words[tokens[:length]] = words.get(tokens[:length], 0) + weight
    return words


def variation(law, other):
    """sum (law - other)+"""
    return sum((max(mass - other.get(word, 0), 0) for word, mass in law.items()), Fraction(0))


def measures(pair, builder, verifier, shape):
    """(total variation, first-token total variation, expected length) of one cycle from the start."""
    law = block_law(Decoder(pair, builder, verifier, shape))
    longest = shape.depth + 1
    return (
        variation(completed(pair, law, longest), target_law(pair, longest)),
        variation(completed(pair, law, 1), target_law(pair, 1)),
        sum(mass * len(block) for block, mass in law.items()),
    )

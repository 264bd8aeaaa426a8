"""The pair that every small decoder of this folder speaks: three tokens, the next one depends on the last one.

Row `token` holds the law after that token, the last row the law at the start. All entries are eighths, and p/q is
dyadic wherever it is below 1, so float code loses nothing. The rows have two residual tokens of unequal q (start), a
token with p = q (after 0), one with p = 0 (after 1) and one with q = 0 (after 2).
"""

from fractions import Fraction

V = 3
START = -1


def _eighths(*rows: tuple[int, ...]) -> list[list[Fraction]]:
    return [[Fraction(n, 8) for n in row] for row in rows]


p_exact = _eighths((2, 2, 4), (5, 3, 0), (3, 1, 4), (1, 4, 3))
q_exact = _eighths((4, 2, 2), (2, 4, 2), (0, 4, 4), (4, 3, 1))
p_floats = [[float(x) for x in row] for row in p_exact]
q_floats = [[float(x) for x in row] for row in q_exact]


def row(table, ids):
    """The law of the token after `ids`."""
    return table[ids[-1] if ids else START]

"""Subjects whose law is another one in another process, or that cannot run there: "tests.audit.hidden:..."."""

import os
import random

HALVES = [0.5, 0.5, 0.0]


def halves(context):
    return HALVES


def honest(context, n_tokens):
    return [random.choices([0, 1], [1, 1])[0] for _ in range(n_tokens)]


def set_order(context, n_tokens):
    """Draws by weights 3 : 1 along the order of a set of names: another law for another PYTHONHASHSEED."""
    names = list({"left", "right", "up", "down", "north", "south"})
    return [random.choices([int(names[0] < "m"), int(names[0] >= "m")], [3, 1])[0] for _ in range(n_tokens)]


def by_process(context, n_tokens):
    """Emits 2 where another process runs it."""
    return honest(context, n_tokens) if os.getpid() == PARENT else [2] * n_tokens


PARENT = int(os.environ.get("TESTS_AUDIT_HIDDEN_PARENT", "0")) or os.getpid()
os.environ["TESTS_AUDIT_HIDDEN_PARENT"] = str(PARENT)


def only_here(context, n_tokens):
    """Cannot run in another process."""
    if os.getpid() != PARENT:
        raise RuntimeError("no model here")
    return honest(context, n_tokens)


def factory(*, weight=1):
    return lambda context, n_tokens: [random.choices([0, 1], [weight, 1])[0] for _ in range(n_tokens)]

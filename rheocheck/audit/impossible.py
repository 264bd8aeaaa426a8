"""Impossible output: what no law over the vocabulary emits. One hit is a proof of bias, whatever the law.

    an id outside the vocabulary   too large, or negative
    the end of the text            fewer tokens than asked, and no end-of-text token
    no output                      the call raised, since its probabilities were none (`intercept.complaints`)

A baseline says nothing about its vocabulary: there an id that is too large is merely one that it never emits. What is
impossible for every law must not come from a baseline either: then there is nothing to compare with.
"""

import math
from collections import Counter
from typing import Any

import numpy as np

from rheocheck.audit.evidence import Draws, Evidence
from rheocheck.audit.tally import Tally
from rheocheck.audit.verdict import Boundary, Witness
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context
from rheocheck.intercept.words import ENDED, FAILED, impossible, is_impossible
from rheocheck.stats.bounds import clopper_pearson_low
from rheocheck.stats.plan import Plan

END = "the end of the text"
NAME = "impossible output"  # the statistic


def reason(token: int, size: int | None, failure: str | None = None) -> str | None:
    """Why no law over 0..size-1 emits this token; None if one may."""
    if token == FAILED:
        return f"no output: {failure or 'its probabilities were none'}"
    if token == ENDED:
        return END
    if not is_impossible((token,), size):
        return None
    return f"an id outside 0..{size - 1}" if size is not None else "a negative id"


def described(witness: Witness, size: int | None, failure: str | None = None) -> Witness:
    """A witness that says in words why its token is impossible, if it is."""
    assert witness.token is not None  # a mark is a token until it is described
    why = reason(witness.token, size, failure)
    token = None if witness.token in (ENDED, FAILED) else witness.token
    return Witness(witness.context, token, witness.emitted, witness.target, why, witness.hits)


def check_baseline(word: Context, failure: str | None) -> None:
    """Raises InputError on a word of a baseline that no law emits."""
    why = next((why for why in (reason(x, None, failure) for x in word) if why), None)
    if why is not None:
        came = f"{why} ({min(word)})" if why == "a negative id" else why
        advice = ": name its end-of-text token by --eos ID" if why == END else ": run it by itself"
        raise InputError(f"the baseline must emit token ids >= 0, as many as asked, got {came}{advice}")


def advice(ended: bool, eos: int | None) -> tuple[str, ...]:
    """A note for whoever only forgot to say that texts may end."""
    if not ended:
        return ()
    if eos is None:
        return ("texts end early: if SUBJECT may stop, name its end-of-text token by --eos ID; else check its wrapper",)
    return (f"texts end early without the end-of-text token {eos}: SUBJECT must return it, and stop nowhere else",)

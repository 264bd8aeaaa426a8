"""What a sampler says of probabilities that are none: NaN, infinite, negative, or without a positive sum.

The line between two kinds of exceptions. A decoder whose residual is empty divides 0 by 0 and hands NaN to its sampler;
the sampler raises. On these random choices the real code emits nothing, and the target always emits something: that is
a bias, and its size is the probability of the choices. Any other exception (out of memory, a wrong argument, a missing
file) says nothing about a law: the subject cannot be run as it is, an input error.

So an exception is a complaint if

    it is a stand-in's `NotProbabilities`, raised where the real sampler raises; or
    a real sampler, or the subject itself, raised an exception of KINDS that says NaN, or one of the samplers' sentences
    about weights (SENTENCES); and it was not raised by interception, whose own trouble with a NaN would not be the
    decoder's.

JAX has no complaints: its samplers draw some token out of NaN, which an audit by sampling counts like any other.
"""

import os
import re
import traceback

from rheocheck.intercept.errors import LIBRARIES, OURS

KINDS = (ValueError, RuntimeError, FloatingPointError, AssertionError, RuntimeWarning)  # the last under -W error
SENTENCES = re.compile(
    r"\bNaNs?\b"
    r"|invalid value encountered"  # NumPy, under errstate(invalid="raise")
    r"|probabilities are not non-negative|probabilities do not sum to 1|sum\(pvals"  # numpy.random
    r"|Total of weights must be"  # random.choices
    r"|sum of probabilities <= 0|p_in >= 0 && p_in <= 1|expects p to be in \[0, 1\]|constraint Simplex",  # torch
    re.IGNORECASE,
)
CHECKS = re.compile(r"\bisnan|\bisfinite|\bisinf")  # what an assertion without a message may look for


class NotProbabilities(RuntimeError, ValueError):
    """Weights that are none, said in a sampler's place: torch raises a RuntimeError there, the others a ValueError."""


def complaint(error: BaseException) -> str | None:
    """The complaint with its line, if `error` is one."""
    if not isinstance(error, KINDS):
        return None
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    ours = bool(frames) and frames[-1].f_code.co_filename.startswith(OURS)
    text = " ".join(str(error).split())
    if not isinstance(error, NotProbabilities) and (ours or not (SENTENCES.search(text) or _checks_numbers(error))):
        return None
    kind = "" if isinstance(error, NotProbabilities) else f"{type(error).__name__}: "
    return f"{kind}{text[:160] or 'not finite'} at {_line(error)}"


def _checks_numbers(error: BaseException) -> bool:
    """Whether it is an assertion about NaN, such as `assert torch.isfinite(p).all()`."""
    last = traceback.extract_tb(error.__traceback__)[-1:]
    return isinstance(error, AssertionError) and bool(last) and bool(CHECKS.search(last[0].line or ""))


def _line(error: BaseException) -> str:
    """The innermost line that is neither ours nor a numerical library's, as "file.py:12"."""
    for frame, number in reversed(list(traceback.walk_tb(error.__traceback__))):
        library = frame.f_globals.get("__name__", "").split(".")[0] in LIBRARIES
        if not library and not frame.f_code.co_filename.startswith(OURS):
            return f"{os.path.basename(frame.f_code.co_filename)}:{number}"
    return "an unknown line"

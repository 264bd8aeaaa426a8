"""A subject that may stop: the law of the stopped text.

With an end-of-text token `eos`, a text ends behind the first eos that is *generated*; one inside the audited context
does not end anything, since the subject is asked to go on behind it. Words keep their length: behind an eos they are
filled up with eos, of the subject, a baseline and recordings alike, and the target's row there is all on eos. So the
joint law of L tokens is that of texts cut after L tokens, and TV, bounds and witnesses mean what they always do.

What a subject returns behind an eos is not looked at: engines differ in what they leave there, and no reader sees it.
"""

import dataclasses
from typing import Any

from rheocheck.audit.target import Target
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context

STOPPED = -1  # the state of a stopped text: none of a pair


def stopped_target(target: Target, eos: int | None, context: Context) -> Target:
    """The target of texts that end behind a generated `eos`; without one, as it is.

    Raises InputError where eos is no token of the target.
    """
    if eos is None:
        return target
    size = target.vocab_size
    if size is not None and not 0 <= eos < size:
        raise InputError(f"--eos must be a token of the target, 0..{size - 1}, got {eos}: do both use one vocabulary?")
    end = {eos: 1}
    law, boundary, state = target.law, target.boundary, target.state

    def ended(after: Context) -> bool:
        return eos in after[len(context) :]

    def near(after: Context) -> Any:
        assert boundary is not None  # asked only where there is one
        return () if ended(after) else boundary(after)

    def seen(after: Context) -> int:
        assert state is not None
        return STOPPED if ended(after) else state(after)

    return dataclasses.replace(
        target,
        law=lambda after: end if ended(after) else law(after),
        boundary=boundary and near,
        state=state and seen,
    )


def check_log(eos: int | None, depth: int | None) -> None:
    """Raises InputError for a decode log of texts that may stop: the last block of one is cut, and proves nothing."""
    if eos is not None and depth:
        raise InputError(
            f"--eos must go without a decode log, got --depth {depth}: the block in which a text ends is cut; "
            "--depth 0 leaves the log out"
        )

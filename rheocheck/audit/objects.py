"""The object of a verdict: the words whose joint law a bound on TV is about.

Asked for by `tokens` or `drafts`, the object is exactly that many tokens, and nothing else earns a pass. A decoder with
K drafts emits up to K + 1 tokens in a cycle; its bonus token and what the next cycle makes of it show only in K + 2.
Not asked for, it is the longest prefix of the drawn tokens that the draws allowed can bound (`choose_object`).
"""

from dataclasses import dataclass

from rheocheck.audit.arguments import check_integers
from rheocheck.audit.joint_law import JointLaw
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context

DEFAULT_TOKENS = 4  # drawn where nothing was asked for


@dataclass(frozen=True)
class LawObject:
    """The object of an audit against a law.

    joint   the joint law of the object; where that has too many words, of a prefix that does not
    tokens  of the object
    asked   whether it was asked for
    longer  the joint law of all drawn tokens that were counted: the object's, or that of more tokens
    """

    joint: JointLaw
    tokens: int
    asked: bool
    longer: JointLaw

    @property
    def whole(self) -> bool:
        """Whether the law of the object is known, and not only that of a prefix."""
        return self.joint.tokens == self.tokens


def asked_tokens(tokens: int | None, drafts: int | None) -> tuple[int, bool]:
    """How many tokens to draw, and whether they were asked for. Raises InputError where the two contradict."""
    check_integers(tokens=(tokens, 1), drafts=(drafts, 1))
    if drafts is None:
        return (DEFAULT_TOKENS, False) if tokens is None else (tokens, True)
    if tokens is not None and tokens < drafts + 2:
        raise InputError(
            f"--tokens must be at least {drafts + 2} with --drafts {drafts}, got {tokens}: a bonus token and the next "
            "round show only there; leave --tokens out"
        )
    return tokens or drafts + 2, True


def object_name(length: int, context: Context) -> str:
    """What a bound on TV is about, in words."""
    prefix = "first token" if length == 1 else f"joint prefix of {length} tokens"
    return f'{prefix} after context "{" ".join(map(str, context))}"'


def not_looked_at(tokens: int) -> str:
    """What a pass about so many tokens says nothing of, in words."""
    more = max(0, tokens - 2)
    drafts = "any drafts" if more == 0 else f"more than {more} draft{'s' if more > 1 else ''}"
    return (
        f"not looked at: the bonus token of a decoder with {drafts}, and later rounds; --drafts K asks about a "
        "decoder with K drafts"
    )

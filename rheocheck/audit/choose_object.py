"""Which tokens an audit against a law is about, before the first draw.

Asked for: those, however many draws it takes; where they have more than 2^20 possible words no draws are enough, and
the longest prefix that has fewer is kept to say at least something.

Not asked for: the longest prefix that the draws allowed can bound.

    a TV asked for, or no limit    its bound of that TV takes at most the draws allowed: `samples`, or 300 / tv^2
    samples and no TV              at most 512 words, as many draws find and rule out some TV below 1; or more,
                                   where that TV is still at most 0.02

Law, TV and limits decide, never a count.
"""

from rheocheck.audit.against_law import law_plan, law_reach
from rheocheck.audit.joint_law import JointLaw, longest_joint_law
from rheocheck.audit.objects import LawObject
from rheocheck.audit.target import Target
from rheocheck.core.pair import Context

DEFAULT_TV = 0.02
UNLIMITED = 300  # draws times tv^2 that an audit without a limit may take for its bound: 750,000 at 0.02
FEW_WORDS = 512
MOST_ROWS = 4096  # prefixes of one length whose law is asked for, where the object is free


def choose_object(
    target: Target,
    context: Context,
    tokens: int,
    asked: bool,
    rtol: float,
    *,
    tv: float | None,
    samples: int | None,
    alpha: float,
    delta: float,
    saved: int | None = None,
) -> LawObject:
    """The object of an audit that draws `tokens` tokens. Raises InputError where the target cannot be used.

    saved  how many tokens the object of a resumed audit has: it keeps them, whatever may be drawn now
    """
    if asked:
        longest = longest_joint_law(target, context, tokens, rtol)
        return LawObject(longest if longest.tokens == tokens else _few_words(longest), tokens, True, longest)
    longest = longest_joint_law(target, context, tokens, rtol, most_rows=MOST_ROWS)

    def affordable(length: int) -> bool:
        law = longest.first(length).cell_law()
        if tv is None and samples is not None:
            reach = max(law_reach(law, samples, alpha=alpha, delta=delta))
            return reach < 1 if (law > 0).sum() <= FEW_WORDS else reach <= DEFAULT_TV
        wanted = tv or DEFAULT_TV
        allowed = UNLIMITED / wanted**2 if samples is None else samples
        return law_plan(law, tv=wanted, alpha=alpha, delta=delta).pass_ <= allowed

    length = saved or 1
    while saved is None and length < longest.tokens and affordable(length + 1):
        length += 1
    return LawObject(longest.first(length), length, False, longest)


def _few_words(longest: JointLaw) -> JointLaw:
    """The longest prefix with at most FEW_WORDS words, the first token at least."""
    short = [n for n in range(1, longest.tokens + 1) if len(longest.levels[n - 1].law) <= FEW_WORDS]
    return longest.first(max(short, default=1))

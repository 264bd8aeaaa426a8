"""What a verifier does at one node: the exact law of (token, descend).

Any verifier is enumerated by replay. For the three built-in ones the same law is written down directly, which is
some V times cheaper; the tests keep the replay as the slow twin.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rheocheck.core.chance import ReplayChance, outcomes
from rheocheck.core.decoder import Verifier
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context, Law, spaced
from rheocheck.core.tree import Node, drawn
from rheocheck.core.verifiers import matching, recursive, rheo
from rheocheck.exact.guests import forget, impure, trusted
from rheocheck.exact.numbers import as_fractions
from rheocheck.exact.slots import calling, name_of, place


@dataclass(frozen=True)
class NodeLaw:
    """The law of one verification step.

    stop      {token: probability that it is emitted and the block ends}
    descend   {token: probability that it is emitted and the walk goes on below it}
    fallback  whether a residual of zero mass can occur (only under false claims)
    """

    stop: dict[int, Any]
    descend: dict[int, Any]
    fallback: bool = False

    def emitted(self, vocab_size: int) -> list[Any]:
        """The law of the emitted token."""
        return [self.stop.get(x, 0) + self.descend.get(x, 0) for x in range(vocab_size)]


def node_law(verifier: Verifier, p: Law, children: tuple[Node, ...], context: Context) -> NodeLaw:
    """The law of `verifier` with target law p over kept children. InputError names `context` if it misbehaves."""
    direct = next((law for known, law in DIRECT if known is verifier), None)
    if direct is not None:
        return calling("verifier", direct, context, p, children, guest=verifier)
    return replayed(verifier, p, children, context)


class NodeLaws:
    """The node laws of one verifier, and what a user's was asked: `ask_again` wants the same answers."""

    def __init__(self, verifier: Verifier) -> None:
        self.verifier = verifier
        self._asked: list[tuple[Law, tuple[Node, ...], Context, NodeLaw]] = []

    def at(self, p: Law, children: tuple[Node, ...], context: Context) -> NodeLaw:
        """The law at one node (see `node_law`)."""
        law = node_law(self.verifier, p, children, context)
        if not trusted(self.verifier):
            self._asked.append((p, children, context, law))
        return law

    def ask_again(self, late: Callable[[], bool] = lambda: False) -> None:
        """Ask everything once more, the last first, until it is late. InputError where the law is another."""
        forget(self.verifier)
        for p, children, context, law in reversed(self._asked):
            if late():
                break
            if replayed(self.verifier, p, children, context, again=True) != law:
                raise impure(place("verifier", self.verifier, context), "two laws for the same node", self.verifier)
        self._asked.clear()


def replayed(verifier: Verifier, p: Law, children: tuple[Node, ...], context: Context, again: bool = False) -> NodeLaw:
    """The same for any verifier, by enumeration of its choices. It is given Fractions."""
    number = type(p[0])
    p = as_fractions(p)
    children = tuple(Node(child.token, child.slot, as_fractions(child.claim)) for child in children)
    chances = ReplayChance(), ReplayChance()
    twice = [
        calling("verifier", verifier, context, p, children, chance, again=asked)
        for chance, asked in zip(chances, (again, True), strict=True)
    ]
    if chances[0].taken != chances[1].taken:  # it kept what it drew
        raise impure(place("verifier", verifier, context), "other choices when asked again", verifier)
    if twice[0] != twice[1]:
        raise impure(place("verifier", verifier, context), "two results for the same choices", verifier)
    stop: dict[int, Any] = {}
    descend: dict[int, Any] = {}
    fallback = False
    held = {child.token for child in children}
    for weight, result, notes in outcomes(
        lambda chance: calling("verifier", verifier, context, p, children, chance, again=again)
    ):
        token, down = _checked(result, len(p), held, verifier, context)
        branch = descend if down else stop
        branch[token] = branch.get(token, 0) + number(weight)
        fallback = fallback or "fallback" in notes
    total = sum(stop.values()) + sum(descend.values())
    if total != 1:
        raise impure(place("verifier", verifier, context), f"outcomes of total weight {total}", verifier)
    return NodeLaw(stop, descend, fallback)


def _checked(result: Any, vocab_size: int, held: set[int], verifier: Verifier, context: Context) -> tuple[int, bool]:
    try:
        token, down = result
        known = not isinstance(token, bool) and token in range(vocab_size)
    except (TypeError, ValueError):
        known = False
    name, shown = name_of(verifier), spaced(context)
    if not known:
        raise InputError(
            f"verifier {name!r} at context {shown!r} must return (token, descend) with a token 0..{vocab_size - 1}, "
            f"got {result!r}"
        )
    if down and token not in held:
        raise InputError(
            f"verifier {name!r} at context {shown!r} may descend to a kept child only ({sorted(held)}), got {token!r}"
        )
    return int(token), bool(down)


def _matching(p: Law, children: tuple[Node, ...]) -> NodeLaw:
    return _split(dict(enumerate(p)), children, False)


def _recursive(p: Law, children: tuple[Node, ...]) -> NodeLaw:
    descend: dict[int, Any] = {}
    fallback = False
    r, left = p, p[0] * 0 + 1  # left: the probability that nothing was accepted yet
    for child in children:
        x, claim = child.token, child.claim
        accept: Any = min(r[x] / claim[x], 1) if claim[x] > 0 else 0
        if accept:
            descend[x] = descend.get(x, 0) + left * accept
        left = left * (1 - accept)
        if not left:
            return NodeLaw({}, descend, fallback)
        r, fell = _residual(r, claim, p)
        fallback = fallback or fell
    return NodeLaw({y: left * mass for y, mass in enumerate(r) if mass}, descend, fallback)


def _rheo(p: Law, children: tuple[Node, ...]) -> NodeLaw:
    probe = drawn(children)
    if probe is None:
        return _matching(p, children)
    x, claim = probe.token, probe.claim
    accept: Any = min(p[x] / claim[x], 1) if claim[x] > 0 else 0
    emitted: dict[int, Any] = {x: accept}
    if accept == 1:
        return _split(emitted, children, False)
    r, fell = _residual(p, claim, p)
    for y, mass in enumerate(r):
        emitted[y] = emitted.get(y, 0) + (1 - accept) * mass
    return _split(emitted, children, fell)


def _split(emitted: dict[int, Any], children: tuple[Node, ...], fallback: bool) -> NodeLaw:
    held = {child.token for child in children}
    stop = {y: mass for y, mass in emitted.items() if mass and y not in held}
    return NodeLaw(stop, {y: mass for y, mass in emitted.items() if mass and y in held}, fallback)


def _residual(r: Law, claim: Law, p: Law) -> tuple[Law, bool]:
    left = [a - c if a > c else a * 0 for a, c in zip(r, claim, strict=True)]
    mass = sum(left)
    return (tuple(x / mass for x in left), False) if mass else (p, True)


DIRECT: list[tuple[Verifier, Callable[[Law, tuple[Node, ...]], NodeLaw]]] = [
    (matching, _matching),
    (recursive, _recursive),
    (rheo, _rheo),
]

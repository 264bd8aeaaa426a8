"""Exact curves: what a decoder gains and loses along one size of its trees, or along the temperature.

    found = sweep(pair, "m", range(4), shape=Shape(branching=3, depth=2, nodes=5))
    found.curves[2].best.value    # the m at which RheoSampling + rheo emits most tokens a block

Beside each length stands what the same trees allow: the optimal acceptance of `transport`, and a ceiling that no
lossless verifier exceeds. A point is exact or left out; a partial sum is never shown.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from rheocheck.core.builders import rheo, top_k
from rheocheck.core.decoder import Builder, Verifier
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context, Pair
from rheocheck.core.shape import Shape
from rheocheck.core.verifiers import recursive
from rheocheck.core.verifiers import rheo as rheo_verifier
from rheocheck.exact.budget import Budget
from rheocheck.exact.curves.point import Trees, point_of
from rheocheck.exact.curves.temperature import tempered
from rheocheck.exact.curves.values import Curve, LeftOut, Point, Sweep, Value
from rheocheck.exact.numbers import fastest

SIZES = {"m": "leads", "K": "branching", "D": "depth", "N": "nodes"}
OVER = ("m", "T", "K", "D", "N")


@dataclass(frozen=True)
class Method:
    """A decoder under the name that its curve gets."""

    name: str
    builder: Builder
    verifier: Verifier


METHODS = (
    Method("top_k + recursive", top_k, recursive),
    Method("rheo + recursive", rheo, recursive),
    Method("rheo + rheo", rheo, rheo_verifier),
)


def sweep(
    pair: Pair,
    over: str,
    values: Iterable[Value],
    methods: Sequence[Method] = METHODS,
    shape: Shape | None = None,
    *,
    context: Context = (),
    ceilings: bool = True,
    budget: Callable[[], Budget] = Budget,
    guard: Callable[[Budget], AbstractContextManager[Any]] = nullcontext,
    done: Callable[[], Any] = lambda: None,
) -> Sweep:
    """The curves of `methods` on `pair` after `context`, over one of the sizes m, K, D, N, or the temperature T.

    shape     the sizes not swept. A frontier equal to K follows K, as it does by default
    ceilings  whether to compute them: where many trees are possible they cost more than the rest
    budget    gives the budget of one point; a point that does not fit is left out, by name
    guard     surrounds the work at a point, to stop code that does not look at the budget
    done      called after every point
    """
    shape, values = shape or Shape(), tuple(values)
    if not isinstance(pair, Pair):
        raise InputError(f"the pair must be a Pair, got {type(pair).__name__}; try load_pair(path)")
    if over not in OVER:
        raise InputError(f"over must be one of {', '.join(OVER)}, got {over!r}; try m")
    if not values or len(set(values)) < len(values):
        raise InputError(f"values must be some numbers, each once, got {list(values)}; try 0, 1, 2")
    if not methods or len({method.name for method in methods}) < len(methods):
        names = [method.name for method in methods]
        raise InputError(f"methods must be some decoders, each named once, got {names}; remove the repetition")
    if not all(type(x) is int and 0 <= x < pair.vocab_size for x in context):
        raise InputError(f"the context must hold tokens 0..{pair.vocab_size - 1}, got {context!r:.60}; check it")
    found: dict[str, list[Point | LeftOut]] = {method.name: [] for method in methods}
    interrupted = False
    for value, at, sizes in [(value, *_setting(pair, shape, over, value)) for value in values]:  # bad values first
        trees: dict[int, Trees] = {}
        for method in methods:
            spent = budget()
            if interrupted:
                outcome: Point | LeftOut = LeftOut(value, "interrupted", Fraction(0))
            else:
                here = trees.setdefault(
                    id(method.builder), Trees(at, method.builder, sizes, context, bounded=not ceilings)
                )
                outcome = _attempt(value, here, method.verifier, spent, guard)
                interrupted = spent.stopped == "interrupted"
            found[method.name].append(outcome)
            done()
    return Sweep(over, values, shape, tuple(_curve(method.name, found[method.name]) for method in methods))


def _attempt(
    value: Value,
    trees: Trees,
    verifier: Verifier,
    spent: Budget,
    guard: Callable[[Budget], AbstractContextManager[Any]],
) -> Point | LeftOut:
    try:
        with guard(spent):
            outcome = point_of(value, trees, verifier, spent)
    except KeyboardInterrupt:
        spent.stopped = spent.stopped or "interrupted"
        outcome = LeftOut(value, spent.stopped, Fraction(0))
    return replace(outcome, stopped=str(spent.stopped)) if isinstance(outcome, LeftOut) else outcome


def _curve(name: str, found: list[Point | LeftOut]) -> Curve:
    return Curve(
        name,
        tuple(point for point in found if isinstance(point, Point)),
        tuple(point for point in found if isinstance(point, LeftOut)),
    )


def _setting(pair: Pair, shape: Shape, over: str, value: Value) -> tuple[Pair, Shape]:
    """The pair and the shape at one value, the pair in the engine's number type."""
    if over == "T":
        return tempered(pair, value).converted(fastest()), shape
    sizes: dict[str, Any] = {SIZES[over]: value}
    if over == "K" and shape.width == shape.branching:
        sizes["frontier"] = None
    return pair.converted(fastest()), replace(shape, **sizes)

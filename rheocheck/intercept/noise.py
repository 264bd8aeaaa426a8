"""Noise: a monotone function of one uniform, built up by the arithmetic that a decoder does with it.

`a * u + b`, `log`, `exp`, powers and clamps keep the function invertible, so that a comparison with a number is a
question about the uniform itself: u * q < p asks whether u < p / q. Whatever else is done with it raises
NotUnderstood: no plain number ever comes out.

    steps  (("scale", a), ("shift", b), ("log",), ("exp",), ("power", k), ("clamp", lo, hi)), innermost first
"""

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from rheocheck.intercept.asking import check_current, choose_cell, decide
from rheocheck.intercept.errors import check_precision, not_understood
from rheocheck.intercept.uniform import Cut, Uniform

Number = Fraction | float  # floats are infinities only; everything finite is a Fraction
Step = tuple[Any, ...]
Truth = tuple[tuple[Cut, ...], Callable[[Cut], bool]]  # cuts, and whether it holds in the cell that begins at a cut
FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}
DUNDER = {"<": "__lt__", ">": "__gt__", "<=": "__le__", ">=": "__ge__", "==": "__eq__", "!=": "__ne__"}
COMPARE = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}

# What the arrays of noise of a library do for a single one; they put it here when they are loaded, before any run.
#     numpy  value -> a noise as an array without dimensions, anything else as it is
#     torch  its protocol for functions (func, types, args, kwargs)
ARRAYS: dict[str, Callable[..., Any]] = {}


class Noise:
    """A monotone function of one uniform. Comparing it with a number decides on which side it lies."""

    __slots__ = ("steps", "uniform")

    def __init__(self, uniform: Uniform, steps: tuple[Step, ...] = ()) -> None:
        self.uniform, self.steps = uniform, steps

    def __array_ufunc__(self, *args: Any, **kwargs: Any) -> Any:
        for value in args:
            check_precision(getattr(value, "dtype", None))
        one = ARRAYS["numpy"]
        return one(self).__array_ufunc__(*map(one, args), **kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        one = ARRAYS["numpy"]
        return one(self).__array_function__(func, types, tuple(map(one, args)), kwargs)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        for value in args:
            check_precision(getattr(value, "dtype", None))
        return ARRAYS["torch"](func, types, args, kwargs)

    def then(self, *step: Any) -> "Noise":
        """The function followed by one more step."""
        return Noise(self.uniform, (*self.steps, step))

    # -- arithmetic ------------------------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Any:
        return _with_number(self, other, "__add__", self.shift)

    def __sub__(self, other: Any) -> Any:
        return _with_number(self, other, "__sub__", lambda b: self.shift(-b))

    def __rsub__(self, other: Any) -> Any:
        return _with_number(self, other, "__rsub__", lambda b: (-self).shift(b))

    def __mul__(self, other: Any) -> Any:
        return _with_number(self, other, "__mul__", self.scale)

    def __truediv__(self, other: Any) -> Any:
        return _with_number(self, other, "__truediv__", lambda a: self.scale(inverse_of(a)))

    def __rtruediv__(self, other: Any) -> Any:
        return _with_number(self, other, "__rtruediv__", lambda a: self.power(Fraction(-1)).scale(a))

    def __pow__(self, other: Any) -> Any:
        return _with_number(self, other, "__pow__", self.power)

    def __neg__(self) -> "Noise":
        return self.then("scale", Fraction(-1))

    __radd__, __rmul__ = __add__, __mul__

    def shift(self, b: Number) -> "Noise":
        """Plus b; infinity minus infinity is refused."""
        low, high = self.ends() if math.isinf(b) else (b, b)
        if b != b or (low == high == -b != b):
            raise not_understood(f"{b} added to a random number", "keep NaN and infinity out of the arithmetic")
        return self.then("shift", b)

    def scale(self, a: Number) -> "Noise":
        """Times a; infinity times what may have either sign is refused, as is 0 times infinity."""
        if a and not math.isinf(a) and a == a:
            return self.then("scale", a)
        low, high = self.ends()
        if a != a or (a == 0 and low == high and math.isinf(low)) or (a != 0 and low < 0 < high):
            raise not_understood(f"{a} times a random number", "keep NaN, infinity and division by 0 out of it")
        return (-self).then("scale", -a) if a and low < 0 else self.then("scale", a)

    def log(self) -> "Noise":
        """The natural logarithm; of 0 it is minus infinity."""
        self._check_non_negative("log")
        return self.then("log")

    def exp(self) -> "Noise":
        """The exponential."""
        return self.then("exp")

    def power(self, k: Number) -> "Noise":
        """The k-th power of what is never negative."""
        self._check_non_negative("power")
        if k == 0 or math.isinf(k):
            raise not_understood(f"a power {k} of a random number", "take a finite power other than 0")
        return self.then("power", k)

    def clamp(self, low: Any = None, high: Any = None) -> "Noise":
        """Clipped to [low, high]; None is no limit."""
        lo = -math.inf if low is None else as_number(low)
        hi = math.inf if high is None else as_number(high)
        return self.then("clamp", lo, hi)

    # -- comparisons -----------------------------------------------------------------------------------------------

    def __lt__(self, other: Any) -> Any:
        return self._compare("<", other)

    def __le__(self, other: Any) -> Any:
        return self._compare("<=", other)

    def __gt__(self, other: Any) -> Any:
        return self._compare(">", other)

    def __ge__(self, other: Any) -> Any:
        return self._compare(">=", other)

    def __eq__(self, other: Any) -> Any:
        return self._compare("==", other)

    def __ne__(self, other: Any) -> Any:
        return self._compare("!=", other)

    def _compare(self, op: str, other: Any) -> Any:
        def decided(c: Number) -> bool:
            cuts, holds = self.truth(op, c)
            return decide(self.uniform, cuts, holds)

        return _with_number(self, other, DUNDER[op], decided)

    def truth(self, op: str, c: Number) -> Truth:
        """The cuts of the uniform at which `self op c` changes, and its truth in the cell that begins at a cut."""
        if c != c:  # NaN: nothing but != holds
            return (), lambda start: op == "!="
        if op in ("==", "!="):
            below, under = self.truth("<", c)
            above, over = self.truth(">", c)
            return (*below, *above), lambda start: (under(start) or over(start)) == (op == "!=")
        for step in reversed(self.steps):
            solved = _undo(step, op, c)
            if isinstance(solved, bool):
                return (), lambda start, answer=solved: answer
            op, c = solved
        if math.isinf(c):
            return (), lambda start: COMPARE[op](0, c)
        cut = (Fraction(c), 1 if op in ("<=", ">") else 0)
        left = op in ("<", "<=")
        return (cut,), lambda start: (start < cut) == left

    def at(self, u: Number) -> Number:
        """The value of the function where the uniform is u."""
        for step in self.steps:
            u = _apply(step, u)
        return u

    def ends(self) -> tuple[Number, Number]:
        """The least and the largest value (one of them may be a limit)."""
        a, b = self.at(self.uniform.lo[0]), self.at(self.uniform.hi[0])
        return min(a, b), max(a, b)

    def _check_non_negative(self, what: str) -> None:
        if self.ends()[0] < 0:
            raise not_understood(f"{what} of a random number that may be negative", "keep it in [0, 1)")

    # -- ways out that are not understood ----------------------------------------------------------------------------

    def floor(self) -> int:
        """The integer part, decided now: int(u * n) is a draw of n outcomes."""
        check_current(self.uniform)
        low, high = self.ends()
        if not math.isfinite(low) or not math.isfinite(high) or high - low > 4096:
            raise not_understood("the integer part of an unbounded random number", "draw an index from fewer outcomes")
        first = low.__floor__()
        cuts: list[Cut] = []
        for n in range(first, high.__floor__() + 1):
            cuts += self.truth(">=", Fraction(n))[0]
        cells = self.uniform.cells(cuts)
        cell = cells[choose_cell(self.uniform, cells)]
        middle = self.at((cell[0][0] + cell[1][0]) / 2)
        return int(middle.__floor__())

    def truncated(self) -> int:
        """What int() makes of it, decided now; of a number that may be negative that is not the integer part."""
        if self.ends()[0] < 0:
            raise not_understood("int() of a random number that may be negative", "take the floor")
        return self.floor()

    __floor__, __int__, __trunc__ = floor, truncated, truncated

    def _no_number(self, *_: Any) -> Any:
        raise not_understood("a random number used as a plain number", "compare it, or audit by sampling")

    __float__ = __index__ = __bool__ = __hash__ = __round__ = __ceil__ = __complex__ = __abs__ = _no_number
    __mod__ = __rmod__ = __floordiv__ = __rfloordiv__ = __divmod__ = __rpow__ = __array__ = _no_number

    def __format__(self, spec: str) -> str:
        raise not_understood("a random number written as text", "leave the printing out")

    def __str__(self) -> str:
        raise not_understood("a random number written as text", "leave the printing out")

    __repr__ = __str__


def as_number(x: Any) -> Number:
    """A plain number of any library as a Fraction, or as an infinite or NaN float."""
    if isinstance(x, Fraction):
        return x
    x = float(x)
    return Fraction(x) if math.isfinite(x) else x


def _with_number(noise: Noise, other: Any, operation: str, then: Callable[[Number], Any]) -> Any:
    """`then(other)` for a plain number; arrays are left to their own library, other randomness is refused."""
    if isinstance(other, Noise):
        raise not_understood(f"{operation} of two random numbers", "compare each of them with a plain number")
    check_precision(getattr(other, "dtype", None))
    if getattr(other, "shape", ()) != () or hasattr(other, "cells") or hasattr(other, "lazy"):
        if not hasattr(other, "aval"):
            return NotImplemented
        return getattr(ARRAYS["numpy"](noise), operation)(other)  # JAX leaves it to us
    try:
        number = as_number(other)
    except (TypeError, ValueError):
        return NotImplemented
    return then(number)


def inverse_of(a: Number) -> Number:
    """1 / a, with 1 / 0 = infinity."""
    return math.inf if a == 0 else 1 / a if math.isfinite(a) else Fraction(0)


def _undo(step: Step, op: str, c: Number) -> bool | tuple[str, Number]:
    """`step(x) op c` as a comparison of x, or as the answer when x does not matter."""
    name, *values = step
    if name == "shift":
        b = values[0]
        if math.isinf(b):
            return COMPARE[op](b, c)
        return op, c - b
    if name == "scale":
        return _undo_scale(values[0], op, c)
    if name == "log":
        return op, exp_of(c)
    if name == "exp":
        if c < 0:
            return op in (">", ">=")
        return op, log_of(c)
    if name == "power":
        k = values[0]
        if c < 0:
            return op in (">", ">=")
        return (op, root_of(c, k)) if k > 0 else (FLIPPED[op], root_of(c, k))
    assert name == "clamp"
    lo, hi = values
    return _undo_clamp(lo, hi, op, c)


def _undo_scale(a: Number, op: str, c: Number) -> bool | tuple[str, Number]:
    if a == 0:
        return COMPARE[op](0, c)
    if math.isinf(a):  # x / 0: infinite, x being positive (Noise.scale) or, with probability zero, 0
        return COMPARE[op](a, c)
    return (op, c / a) if a > 0 else (FLIPPED[op], c / a)


def _undo_clamp(lo: Number, hi: Number, op: str, c: Number) -> bool | tuple[str, Number]:
    if op in (">", ">="):
        answer = _undo_clamp(lo, hi, "<=" if op == ">" else "<", c)
        return (not answer) if isinstance(answer, bool) else (op, c)
    if c < lo or (c == lo and op == "<"):
        return False
    if c > hi or (c == hi and op == "<="):
        return True
    return op, c


def _apply(step: Step, x: Number) -> Number:
    name, *values = step
    if name == "shift":
        return values[0] if math.isinf(values[0]) else x + values[0]
    if name == "scale":
        return x * values[0] if x and values[0] else Fraction(0)
    if name == "log":
        return log_of(x)
    if name == "exp":
        return exp_of(x)
    if name == "power":
        return root_of(x, inverse_of(values[0]))
    return min(max(x, values[0]), values[1])


def exp_of(x: Number) -> Number:
    if x == -math.inf:
        return Fraction(0)
    return math.inf if x > 709 else Fraction(math.exp(x))


def log_of(x: Number) -> Number:
    if x == 0:
        return -math.inf
    return math.inf if math.isinf(x) else Fraction(math.log(x))


def root_of(x: Number, k: Number) -> Number:
    """x^(1/k) for x >= 0, exact for k = 1 and -1."""
    if k == 1:
        return x
    if k == -1:
        return inverse_of(x)
    if x == 0 or math.isinf(x):
        return Fraction(0) if (x == 0) == (k > 0) else math.inf
    return Fraction(math.exp(math.log(x) / k))

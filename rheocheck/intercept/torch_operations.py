"""What torch code can do with a tensor of noise, by torch's names; the meaning is in `symbols`.

Tensors that share memory in torch share their elements here too: changes of shape and indexing are done by torch, on
the numbers of the elements.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from rheocheck.intercept import symbols
from rheocheck.intercept.errors import not_understood
from rheocheck.intercept.noise import COMPARE, Noise
from rheocheck.intercept.symbols import Cells
from rheocheck.intercept.torch_tensors import (
    ADVICE,
    NoiseTensor,
    become,
    cells_of,
    lazy_tensor,
    noise_tensor,
    numbers,
)


def _like(*values: Any) -> NoiseTensor:
    return next(value for value in values if isinstance(value, NoiseTensor))


def _device(*values: Any) -> Any:
    return next((value.device for value in values if isinstance(value, torch.Tensor)), None)


def _new(cells: Cells, like: NoiseTensor, dtype: Any = None) -> NoiseTensor:
    return noise_tensor(cells, dtype or like.dtype, like.device)


def _unary(name: str) -> Callable[..., Any]:
    return lambda x: _new(symbols.unary(name, x.cells), x)


def _binary(op: str, reflected: bool = False) -> Callable[..., Any]:
    def operation(a: Any, b: Any, *, alpha: float = 1) -> NoiseTensor:
        a, b = (b, a) if reflected else (a, b)
        right = cells_of(b) if alpha == 1 else symbols.binary("*", cells_of(b), symbols.plain(alpha))
        return _new(symbols.binary(op, cells_of(a), right), _like(a, b))

    return operation


def _comparison(op: str) -> Callable[..., Any]:
    return lambda a, b: lazy_tensor(symbols.compare(op, cells_of(a), cells_of(b)), torch.bool, _device(a, b))


def _filling(operation: Callable[..., NoiseTensor]) -> Callable[..., Any]:
    """The in-place form of an operation: the same memory, so views of it see the change."""

    def in_place(x: Any, *args: Any, **kwargs: Any) -> Any:
        result = operation(x, *args, **kwargs)
        if not isinstance(x, NoiseTensor):  # real numbers become noise
            return become(x, result)
        x.cells[...] = result.cells
        return x

    return in_place


def _clamp(x: NoiseTensor, min: Any = None, max: Any = None) -> NoiseTensor:
    return _new(symbols.clamp(x.cells, *(None if side is None else cells_of(side) for side in (min, max))), x)


def _where(condition: torch.Tensor, a: Any, b: Any) -> NoiseTensor:
    if isinstance(condition, NoiseTensor):
        raise not_understood("torch.where on random numbers themselves", "compare them first")
    cells = symbols.elementwise(lambda c, x, y: x if c else y, numbers(condition), cells_of(a), cells_of(b))
    return _new(cells, _like(a, b))


def _masked_fill(x: NoiseTensor, mask: torch.Tensor, value: Any) -> NoiseTensor:
    return _new(symbols.elementwise(lambda c, a, b: b if c else a, numbers(mask), x.cells, cells_of(value)), x)


def _setitem(x: Any, index: Any, value: Any) -> None:
    if not isinstance(x, NoiseTensor):
        raise not_understood("random numbers written into a part of a tensor", "keep them in a tensor of their own")
    x.cells[(*_index(index), ...)] = cells_of(value)


def _index(index: Any) -> tuple[Any, ...]:
    parts = index if isinstance(index, tuple) else (index,)
    kept = tuple(part.detach().cpu().numpy() if isinstance(part, torch.Tensor) else part for part in parts)
    return tuple(part for part in kept if part is not Ellipsis) if kept[-1] is Ellipsis else kept


def _gather(x: NoiseTensor, dim: int, index: torch.Tensor) -> NoiseTensor:
    return _shaped("gather")(x, dim, index)


def _winner(largest: bool) -> Callable[..., Any]:
    def operation(x: NoiseTensor, dim: int | None = None, keepdim: bool = False) -> torch.Tensor:
        index = symbols.winners(x.cells, dim, largest)
        if keepdim and dim is not None:
            index = np.expand_dims(index, dim)
        return torch.as_tensor(index).to(x.device)

    return operation


def _extreme(largest: bool) -> Callable[..., Any]:
    def operation(x: NoiseTensor, dim: int | None = None, keepdim: bool = False) -> Any:
        if dim is None:
            raise not_understood("the largest value of random numbers", "take argmax")
        index = _winner(largest)(x, dim, keepdim=True)
        values = _gather(x, dim, index)
        results = (values, index) if keepdim else (_new(values.cells.squeeze(dim), x), index.squeeze(dim))
        return (torch.return_types.max if largest else torch.return_types.min)(results)

    return operation


def _topk(x: NoiseTensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    if k == 1:
        return torch.return_types.topk(_extreme(largest)(x, dim, keepdim=True))
    index = torch.as_tensor(symbols.ranked(x.cells, k, dim, largest)).to(x.device)
    return torch.return_types.topk((_gather(x, dim, index), index))


def _sort(x: NoiseTensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    index = torch.as_tensor(symbols.ranked(x.cells, x.cells.shape[dim], dim, descending)).to(x.device)
    return torch.return_types.sort((_gather(x, dim, index), index))


def _argsort(x: NoiseTensor, dim: int = -1, descending: bool = False, stable: bool = False) -> torch.Tensor:
    return _sort(x, dim, descending)[1]


def _to(x: NoiseTensor, *args: Any, **kwargs: Any) -> Any:
    """Another dtype or device; an integer type takes the integer part."""
    here = torch.empty((), dtype=x.dtype, device=x.device)
    probe = here.to(*args, **kwargs)
    if probe is here:
        return x
    if probe.dtype.is_floating_point:
        return noise_tensor(x.cells.copy(), probe.dtype, probe.device)
    if probe.dtype == torch.bool:
        raise not_understood("random numbers turned into booleans", "compare them with a number")
    return torch.as_tensor(symbols.truncated(x.cells)).to(probe.dtype)


def _typed(dtype: Any) -> Callable[..., Any]:
    return lambda x: _to(x, dtype)


def _whole(part: Callable[[Cells], Any]) -> Callable[..., Any]:
    return lambda x: torch.as_tensor(part(x.cells)).to(x.dtype)


def _item(x: NoiseTensor) -> Any:
    return x.cells.item()


def _tolist(x: NoiseTensor) -> Any:
    return x.cells.tolist()


def _numpy(x: NoiseTensor, *_: Any, **__: Any) -> Any:
    from rheocheck.intercept.numpy_arrays import NoiseArray

    return NoiseArray(x.cells)


def _search_sorted(
    edges: Any, x: Any, *, right: bool = False, side: str | None = None, out_int32: bool = False
) -> torch.Tensor:
    if isinstance(edges, NoiseTensor):
        raise not_understood("searchsorted in random rows", "search rows of plain numbers")
    lazy = symbols.search_sorted(cells_of(edges), cells_of(x), right or side == "right")
    return lazy_tensor(lazy, torch.int32 if out_int32 else torch.int64, _device(x, edges))


def _shaped(name: str) -> Callable[..., Any]:
    """A change of shape, or a choice of elements: torch says how, on the elements' places in memory."""

    def operation(x: NoiseTensor, *args: Any, **kwargs: Any) -> Any:
        if any(isinstance(value, torch.dtype) for value in (*args, *kwargs.values())):
            raise not_understood("the bits of random numbers", ADVICE)
        if not isinstance(x, NoiseTensor) or any(isinstance(value, NoiseTensor | Noise) for value in args):
            raise not_understood("a random number used as an index", "draw an index by multinomial")
        strides = [stride // x.cells.itemsize for stride in x.cells.strides]
        size = 1 + sum((n - 1) * stride for n, stride in zip(x.cells.shape, strides, strict=True))
        places = torch.arange(max(size, 0)).as_strided(x.cells.shape, strides)
        memory = np.lib.stride_tricks.as_strided(x.cells, (max(size, 0),), (x.cells.itemsize,))
        result = getattr(torch.Tensor, name)(places, *args, **kwargs)
        if isinstance(result, torch.Tensor):
            return _new(_at(memory, places, result), x)
        return tuple(_new(_at(memory, places, part), x) for part in result)

    return operation


def _at(memory: Cells, places: torch.Tensor, part: torch.Tensor) -> Cells:
    """The elements at these places in memory: a view of it where torch has made one, a copy where it has not."""
    if not torch._C._is_alias_of(part, places):  # type: ignore[attr-defined]
        return np.asarray(memory[part.numpy()], dtype=object)
    strides = [stride * memory.itemsize for stride in part.stride()]
    return np.lib.stride_tricks.as_strided(memory[part.storage_offset() :], tuple(part.shape), strides)


def _joined(name: str) -> Callable[..., Any]:
    def operation(tensors: Sequence[Any], dim: int = 0) -> NoiseTensor:
        parts = [cells_of(part) for part in tensors]
        return _new((np.concatenate if name == "cat" else np.stack)(parts, axis=dim), _like(*tensors))

    return operation


NAMES = {
    "+": ("add", "__add__"), "-": ("sub", "subtract", "__sub__"), "*": ("mul", "multiply", "__mul__"),
    "/": ("div", "divide", "true_divide", "__truediv__"), "**": ("pow", "__pow__"),
    "<": ("lt", "less", "__lt__"), "<=": ("le", "less_equal", "__le__"), ">": ("gt", "greater", "__gt__"),
    ">=": ("ge", "greater_equal", "__ge__"), "==": ("eq", "__eq__"), "!=": ("ne", "not_equal", "__ne__"),
    "neg": ("neg", "negative", "__neg__"), "log": ("log",), "exp": ("exp",), "sqrt": ("sqrt",), "square": ("square",),
    "reciprocal": ("reciprocal",), "log1p": ("log1p",),
}  # fmt: skip
REFLECTED = {"+": "__radd__", "-": "__rsub__", "*": "__rmul__", "/": "__rtruediv__", "**": "__rpow__"}
IN_PLACE_FORM = {"+": "__iadd__", "-": "__isub__", "*": "__imul__", "/": "__itruediv__", "**": "__ipow__"}
SHAPES = (
    "view reshape flatten squeeze unsqueeze expand expand_as transpose t permute unbind split chunk select narrow flip "
    "contiguous gather index_select __getitem__"
)


def operations() -> dict[str, Callable[..., Any]]:
    """The operations by the names that torch calls them."""
    table: dict[str, Callable[..., Any]] = {
        "argmax": _winner(True), "argmin": _winner(False), "max": _extreme(True), "min": _extreme(False),
        "topk": _topk, "sort": _sort, "argsort": _argsort, "searchsorted": _search_sorted,
        "bucketize": lambda x, edges, **k: _search_sorted(edges, x, **k),
        "clamp": _clamp, "clip": _clamp, "clamp_": _filling(_clamp), "clamp_min": lambda x, min: _clamp(x, min),
        "clamp_min_": _filling(lambda x, min: _clamp(x, min)), "clamp_max": lambda x, max: _clamp(x, None, max),
        "where": _where, "masked_fill": _masked_fill, "masked_fill_": _filling(_masked_fill),
        "__setitem__": _setitem, "stack": _joined("stack"),
        "cat": _joined("cat"), "concat": _joined("cat"), "item": _item, "tolist": _tolist, "numpy": _numpy,
        "__array__": _numpy, "to": _to, "type": _to,
        "float": _typed(torch.float32), "double": _typed(torch.float64), "half": _typed(torch.float16),
        "bfloat16": _typed(torch.bfloat16), "long": _typed(torch.int64), "int": _typed(torch.int32),
        "floor": _whole(symbols.floor), "trunc": _whole(symbols.truncated), "cpu": lambda x: x,
        "detach": lambda x: x, "data": lambda x: x, "clone": lambda x, **_: x.copied(),
        "rsub": _binary("-", reflected=True),
    }  # fmt: skip
    for op, names in NAMES.items():
        operation = _comparison(op) if op in COMPARE else _binary(op) if op in symbols.BINARY else _unary(op)
        table |= {name: operation for name in names}
        if op not in COMPARE:
            table[f"{names[0]}_"] = _filling(operation)
        if op in REFLECTED:
            table[REFLECTED[op]] = _binary(op, reflected=True)
            table[IN_PLACE_FORM[op]] = _filling(operation)
    return table | {name: _shaped(name) for name in SHAPES.split()}

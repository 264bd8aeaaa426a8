"""Tensors of noise and tensors not yet decided, as torch code meets them.

Both are tensors without memory: whatever torch does with them comes through `__torch_function__`. A NoiseTensor knows
arithmetic, comparisons, races and shapes, and raises on anything else. A LazyTensor (mostly booleans: u < p) stands for
one of a few real tensors; what is pure and small is done to all of them, anything else decides which one it is and is
then done by torch itself.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_flatten, tree_unflatten

from rheocheck.intercept import symbols
from rheocheck.intercept.errors import check_precision, not_understood
from rheocheck.intercept.lazy import Lazy, together
from rheocheck.intercept.noise import ARRAYS, Noise
from rheocheck.intercept.symbols import Cells

ADVICE = "compare it with a number, race it by argmax, or audit by sampling"
OPERATIONS: dict[str, Callable[..., Any]] = {}  # what can be done with noise, by torch's names: see torch_operations


class NoiseTensor(torch.Tensor):
    """A tensor of noise: `cells` holds a Noise (or a plain number) per element."""

    cells: Cells  # tensors that share memory in torch share it here

    def copied(self) -> "NoiseTensor":
        return noise_tensor(self.cells.copy(), self.dtype, self.device)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = name_of(func)
        with torch._C.DisableTorchFunctionSubclass(), _disable_current_modes():
            if name in METADATA:
                return func(*args, **(kwargs or {}))
            operation = OPERATIONS.get(name)
            if operation is None:
                raise not_understood(f"torch.{name} of random numbers", ADVICE)
            _check_promotion([*args, *(kwargs or {}).values()])
            return operation(*map(_decided, args), **{k: _decided(v) for k, v in (kwargs or {}).items()})

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # type: ignore[override]
        raise not_understood(f"torch.{func._schema.name.removeprefix('aten::')} of random numbers", ADVICE)

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __bool__(self) -> bool:
        raise not_understood("the truth of a random number", "compare it with a number")

    __float__ = __int__ = __index__ = __bool__


class LazyTensor(torch.Tensor):
    """A tensor that is one of a few; `lazy` says which, depending on uniforms. Only of real tensors."""

    lazy: Lazy
    aliased = False  # whether another tensor shares its elements in torch, but not here

    def copied(self) -> torch.Tensor:
        return wrapped(self.lazy)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = name_of(func)
        if name in METADATA:
            with torch._C.DisableTorchFunctionSubclass():
                return func(*args, **kwargs)
        in_place = name in IN_PLACE or (name.endswith("_") and not name.endswith("__"))
        out = kwargs.get("out")
        for target in tree_flatten((args[:1] if in_place else (), out))[0]:
            if isinstance(target, LazyTensor):
                check_alone(target)
                become(target, decided(target))
        if name == "__set__":
            raise not_understood("an attribute of undecided random values replaced", "work on a clone()")
        if name in PURE and not in_place and out is None:
            with _disable_current_modes():
                result = _row_by_row(func, args, kwargs, name in VIEWS)
            if result is not None:
                return result
        return _of_decided(func, args, kwargs)

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # type: ignore[override]
        args, kwargs = _all_decided((args, kwargs or {}))
        return func(*args, **kwargs)


def noise_tensor(cells: Cells, dtype: Any, device: Any) -> NoiseTensor:
    """A tensor of noise; `dtype` is what torch code sees, its rounding is not modelled."""
    if dtype in (torch.float16, torch.bfloat16):
        raise not_understood(f"random numbers of type {dtype}", "audit in float32 or float64")
    place = torch.device(device or "cpu")
    tensor = torch.Tensor._make_wrapper_subclass(NoiseTensor, cells.shape, dtype=dtype, device=place)
    tensor.cells = cells
    return tensor


def lazy_tensor(lazy: Lazy, dtype: Any, device: Any) -> torch.Tensor:
    """A tensor of NumPy rows not yet decided; a real tensor if there is just one row."""
    return wrapped(lazy.map(lambda row: torch.as_tensor(row).to(device=device or "cpu", dtype=dtype)))


def wrapped(lazy: Lazy) -> torch.Tensor:
    """A tensor of rows of real tensors."""
    row = lazy.rows[0]
    if len(set(map(_key, lazy.rows))) == 1:
        return row.clone()
    return _undecided(lazy)


def _undecided(lazy: Lazy) -> LazyTensor:
    row = lazy.rows[0]
    tensor = torch.Tensor._make_wrapper_subclass(LazyTensor, row.shape, dtype=row.dtype, device=row.device)
    tensor.lazy = lazy
    return tensor


def _key(row: torch.Tensor) -> Any:
    """What tells the rows of a lazy tensor apart."""
    row = row.detach().cpu()
    return row.shape, row.dtype, (row.float() if row.dtype == torch.bfloat16 else row).numpy().tobytes()


def decided(tensor: LazyTensor) -> torch.Tensor:
    """The real tensor that it is, decided now."""
    with _disable_current_modes():
        row = tensor.lazy.decide(_key)
        tensor.lazy = Lazy((), (row,))
        return row.clone()


def become(tensor: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Turn a tensor into another one in place: who holds it holds the other one from now on."""
    if tensor._is_view() or _shared(tensor):  # the other tensors with this memory would not follow
        raise not_understood("a random draw into memory that tensors share", "draw into a tensor of its own")
    torch.utils.swap_tensors(tensor, other)
    return tensor


def refill(tensor: torch.Tensor, drawn: torch.Tensor) -> torch.Tensor:
    """A tensor after a draw into it."""
    if isinstance(tensor, LazyTensor):
        check_alone(tensor)
    if not isinstance(tensor, NoiseTensor):
        return become(tensor, drawn)
    if not isinstance(drawn, NoiseTensor):
        raise not_understood("coins drawn into a tensor of random numbers", "draw into a new tensor")
    tensor.cells[...] = drawn.cells
    return tensor


def check_alone(tensor: Any) -> None:
    """Refuse to change in place what other tensors share."""
    if tensor.aliased:
        raise not_understood("a change in place of random values that tensors share", "work on a clone()")


def _shared(tensor: torch.Tensor) -> bool:
    if isinstance(tensor, NoiseTensor | LazyTensor):
        return False
    return _users(tensor) > _users(torch.empty(1)) or not tensor.untyped_storage().resizable()  # numpy holds it too


def _users(tensor: torch.Tensor) -> int:
    return int(torch._C._storage_Use_Count(tensor.untyped_storage()._cdata))


def numbers(tensor: torch.Tensor) -> NDArray[np.float64]:
    """The numbers of a real tensor of any type."""
    with _disable_current_modes(), torch._C.DisableTorchFunctionSubclass():
        return tensor.detach().to("cpu", torch.float64, copy=True).numpy()


def tensor_like(values: NDArray[Any], like: torch.Tensor, dtype: Any = None) -> torch.Tensor:
    """A real tensor on the device of another one."""
    return torch.as_tensor(values).to(device=like.device, dtype=dtype or like.dtype)


def cells_of(value: Any) -> Cells:
    """The elements of a tensor of noise, a single Noise, or plain numbers."""
    if isinstance(value, NoiseTensor):
        return value.cells
    if isinstance(value, Noise):
        return symbols.elementwise(lambda _: value, np.zeros(()))
    return symbols.plain(numbers(value) if isinstance(value, torch.Tensor) else value)


def tensor_of_one(value: Any) -> Any:
    """A Noise as a tensor without dimensions; anything else as it is."""
    return noise_tensor(cells_of(value), torch.get_default_dtype(), None) if isinstance(value, Noise) else value


def _function_of_one(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    return NoiseTensor.__torch_function__(func, types, tuple(map(tensor_of_one, args)), kwargs)


ARRAYS["torch"] = _function_of_one


def name_of(func: Any) -> str:
    name = getattr(func, "__name__", str(func))
    if name == "__get__":  # a property: its name is that of the descriptor
        return getattr(func.__self__, "__name__", str(func))
    return name


def _check_promotion(values: list[Any]) -> None:
    """Refuse noise without dimensions beside a tensor of halves that has some: torch rounds the noise to their type."""
    for half in values:
        if isinstance(half, torch.Tensor) and half.dtype in (torch.float16, torch.bfloat16):
            for noise in values:
                if isinstance(noise, NoiseTensor):
                    check_precision(torch.result_type(noise, half))


def _decided(value: Any) -> Any:
    return decided(value) if isinstance(value, LazyTensor) else value


def _all_decided(values: Any) -> Any:
    leaves, spec = tree_flatten(values)
    return tree_unflatten([_decided(leaf) for leaf in leaves], spec)


def _of_decided(func: Any, args: Any, kwargs: Any) -> Any:
    """The function of the decided arguments, which become real tensors: the result may be a view of them."""
    leaves, spec = tree_flatten((args, kwargs))
    shared = [leaf for leaf in leaves if isinstance(leaf, LazyTensor) and leaf.aliased]
    for leaf in leaves:
        if isinstance(leaf, LazyTensor) and not leaf.aliased:
            become(leaf, decided(leaf))
    real = [_decided(leaf) for leaf in leaves]
    args, kwargs = tree_unflatten(real, spec)
    result = func(*args, **kwargs)
    for part in tree_flatten(result)[0] if shared else ():
        for leaf, tensor in zip(leaves, real, strict=True):
            if isinstance(leaf, LazyTensor) and _views(part, tensor):
                check_alone(leaf)
    return result


def _views(part: Any, tensor: torch.Tensor) -> bool:
    """Whether a part of a result may share the memory of a tensor."""
    if isinstance(part, torch.Tensor) and not isinstance(part, LazyTensor | NoiseTensor):
        return bool(torch._C._is_alias_of(part, tensor))  # type: ignore[attr-defined]
    return isinstance(part, np.ndarray)


def _row_by_row(func: Any, args: Any, kwargs: Any, view: bool) -> Any:
    """The function of every row of its lazy arguments, as a lazy tensor; None where it cannot be done."""
    leaves, spec = tree_flatten((args, kwargs))
    table = together([leaf.lazy if isinstance(leaf, LazyTensor) else leaf for leaf in leaves])
    if table is None or any(isinstance(leaf, NoiseTensor) for leaf in leaves):
        return None
    axes, rows = table
    results = []
    for row in rows:
        row_args, row_kwargs = tree_unflatten(row, spec)
        results.append(func(*row_args, **row_kwargs))
    if len({(r.shape, r.dtype) if isinstance(r, torch.Tensor) else None for r in results} | {None}) != 2:
        return None
    if not view or not isinstance(args[0], torch.Tensor):
        return wrapped(Lazy(axes, tuple(results)))
    if not isinstance(args[0], LazyTensor):  # a view of a real tensor must stay one; a copy may wait
        return None if _views(results[0], args[0]) else wrapped(Lazy(axes, tuple(results)))
    args[0].aliased = True
    result = _undecided(Lazy(axes, tuple(results)))
    result.aliased = True
    return result


METADATA = frozenset(
    "shape size dim ndim ndimension dtype device numel nelement layout is_floating_point is_complex requires_grad "
    "is_cuda is_sparse is_quantized is_nested is_meta is_inference element_size stride is_contiguous names _is_view "
    "__len__ get_device is_signed".split()
)
PURE = frozenset(
    "__invert__ bitwise_not logical_not bitwise_and bitwise_or bitwise_xor logical_and logical_or logical_xor "
    "__and__ __or__ __xor__ __rand__ __ror__ __rxor__ cumsum cumprod sum prod all any lt le gt ge eq ne less "
    "less_equal greater greater_equal __lt__ __le__ __gt__ __ge__ __eq__ __ne__ int long float bool double to "
    "type_as argmax argmin amax amin squeeze unsqueeze view reshape flatten __getitem__ add sub mul neg rsub "
    "__add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __neg__ add sub mul clamp where stack cat expand "
    "transpose t clone detach contiguous flip count_nonzero gather index_select select narrow minimum maximum min "
    "max masked_fill".split()
)
VIEWS = frozenset(
    "squeeze unsqueeze view reshape flatten __getitem__ expand transpose t detach contiguous select narrow to int long "
    "float bool double".split()
)
IN_PLACE = frozenset("__setitem__ __iadd__ __isub__ __imul__ __itruediv__ __iand__ __ior__ __ixor__".split())

"""Counts what eager torch dispatches: aten ops (views excluded) and reads of a value by the host.

In inference mode a composite op arrives whole, so what is to be counted is called outside of it.
"""

from collections import Counter

import torch
from torch.utils._python_dispatch import TorchDispatchMode

SYNCS = {"_local_scalar_dense", "item", "nonzero", "is_nonzero", "_unique2", "unique_dim", "masked_select", "equal"}


class Counting(TorchDispatchMode):
    """`with Counting() as count:`; then count.ops, count.syncs (and by name, count.names)."""

    def __init__(self):
        super().__init__()
        self.names, self.syncs = Counter(), 0

    @property
    def ops(self):
        """Ops that are not views."""
        return sum(self.names.values())

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.overloadpacket.__name__
        if func.namespace == "aten" and not func.is_view:
            self.names[name] += 1
            boolean = name == "index" and any(i is not None and i.dtype in (torch.bool, torch.uint8) for i in args[1])
            self.syncs += name in SYNCS or boolean
        return func(*args, **(kwargs or {}))

    def __enter__(self):
        self._tolist, counting = torch.Tensor.tolist, self

        def tolist(tensor):  # not dispatched on a CPU, a copy to the host elsewhere
            counting.syncs += 1
            return counting._tolist(tensor)

        torch.Tensor.tolist = tolist
        return super().__enter__()

    def __exit__(self, *error):
        torch.Tensor.tolist = self._tolist
        return super().__exit__(*error)

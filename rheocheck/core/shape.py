"""The shape of a dynamic draft tree: how wide, how deep, how many nodes, how many leads."""

from dataclasses import dataclass

from rheocheck.core.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Shape:
    """The sizes a builder works with, and their letters.

    leads      m, slots of a node that hold its best tokens and are not drawn
    branching  K, slots of a node
    depth      D, layers of the tree
    nodes      N, nodes kept in the whole tree (the budget); 0 is plain target sampling
    frontier   F, nodes of a layer that get children; K when not given, as in EAGLE-2

    Raises InputError on a negative size, or a branching, depth or frontier of zero.
    """

    leads: int = 1
    branching: int = 4
    depth: int = 3
    nodes: int = 8
    frontier: int | None = None

    def __post_init__(self) -> None:
        if self.frontier is None:
            object.__setattr__(self, "frontier", self.branching)
        for name, least in (("leads", 0), ("branching", 1), ("depth", 1), ("nodes", 0), ("frontier", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InputError(f"{name} must be an integer of at least {least}, got {value!r}; raise it")

    @property
    def width(self) -> int:
        """F: how many nodes of a layer get children."""
        assert self.frontier is not None  # filled in by __post_init__
        return self.frontier

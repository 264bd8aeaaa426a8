"""Tree-equivalence classes of a rule, revealed lazily: 1e11 raw assignments become a few hundred.

The ranking is run best first. A probe's token is never drawn; a heap entry is a *hypothetical* node with
conditions "the probe of node i drew a token in C", and only when such an entry comes up does the engine split the
set of tokens the probe may still be: into C, where the node exists, and the rest, where it does not. Probes that
no kept node asked about stay whole, so one class stands for all their tokens at once.

    entry of a fixed slot      no condition
    entry of the probe's slot  one per rank weight: C = the tokens with that weight (all of them when the rank
                               is blind to the token: then nothing is ever asked)
    entry of a fill            one per token held: C = the probe tokens that put it there
    child of a probe's token y additional condition {y}

Nothing about losslessness is used: the true law of a wrong rule comes out just the same.
"""

import heapq
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from rheocheck.core.decoder import Builder
from rheocheck.core.pair import Context, Law, Pair
from rheocheck.core.rule import Slot, tokens_of
from rheocheck.core.shape import Shape
from rheocheck.exact.budget import Budget
from rheocheck.exact.forest import LEAF, Forest
from rheocheck.exact.slots import RuleSlots

FLOOR = 1 << 62  # scores are compared by floor(-score * FLOOR) first, exactly second: floor is monotone


class _Probe:
    """The probe of one hypothetical node: the full set of tokens as a bit mask, and masses of subsets."""

    __slots__ = ("clouds", "full", "law", "masses")

    def __init__(self, law: Law, full: int) -> None:
        self.law, self.full = law, full
        self.masses: dict[int, Any] = {full: 1}
        self.clouds: dict[int, int] = {}

    def mass(self, mask: int) -> Any:
        if mask not in self.masses:
            self.masses[mask] = sum(self.law[y] for y in bits(mask))
        return self.masses[mask]


class _Entry:
    """A hypothetical node. `children` is filled when it is first expanded."""

    __slots__ = ("children", "claim", "conditions", "context", "floor", "kinds", "layer", "mask", "parent", "probe",
                 "score", "slot", "tie", "token")  # fmt: skip

    def __init__(self, parent: "_Entry | None", slot: int, score: Any, tie: Any, context: Context) -> None:
        self.parent = parent
        self.slot = slot
        self.score = -score
        self.floor = (self.score.numerator * FLOOR) // self.score.denominator
        self.tie = tie
        self.layer: int = parent.layer + 1 if parent else 1
        self.context = context  # of the parent node
        self.token: int | None = None  # None: the probe, whatever it drew
        self.claim = 0
        self.probe: _Probe | None = None  # of the parent node
        self.mask = 0  # for the probe's slot: the tokens this entry stands for
        self.conditions: tuple[tuple[_Probe, int], ...] = ()
        self.kinds: dict[int, int] = {}
        self.children: list[_Entry] | None = None


def bits(mask: int) -> Iterator[int]:
    """The tokens of a bit mask, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class Classes:
    """The enumeration for one pair (already of the engine's number type), rule, start and shape."""

    def __init__(self, pair: Pair, rule: Builder, context: Context, shape: Shape) -> None:
        self.pair, self.shape = pair, shape
        self.slots = RuleSlots(pair, rule, shape)
        self.forest = Forest()
        self.start = context
        self._ways: dict[int, list[tuple[Any, Any, int | None, int]]] = {}  # of each slot, by id: `slots` keeps them
        self._full: dict[int, int] = {}  # tokens of each probe's law, likewise

    def enumerate(self, budget: Budget, first: int | None = None) -> Forest:
        """The forest of all classes. With `first` = l, of their top l layers, which decide the first l tokens.

        Then a class ends as soon as no entry of the top l layers is left; deeper nodes still compete for the budget
        until then.
        """
        forest, nodes = self.forest, self.shape.nodes
        top = self.shape.depth if first is None else min(first, self.shape.depth)
        covered: Any = Fraction(0)
        root = self._children_of(None, self.start, 1, ())
        stack: list[Any] = [(_pushed([], root, {}, 0), {}, None, 0, [0] * (self.shape.depth + 1))]
        try:
            while stack and budget.stopped is None:
                heap, known, kept, size, seen = stack.pop()
                while heap and size < nodes and (first is None or any(item[2] <= top for item in heap)):
                    entry = heap[0][6][heap[0][7]]
                    dropped = False
                    for probe, mask in entry.conditions:
                        open_ = known.get(probe, probe.full)
                        inside = open_ & mask
                        if inside == open_:
                            continue
                        if not inside:
                            dropped = True
                            break
                        without = {**known, probe: open_ ^ inside}
                        stack.append((_advanced(heap.copy(), without), without, kept, size, seen.copy()))
                        known[probe] = inside
                    _advanced(heap, known)
                    if dropped:
                        continue
                    kept = (entry, kept)
                    size += 1
                    layer = entry.layer
                    rank = seen[layer]
                    seen[layer] += 1
                    if layer < self.shape.depth and rank < self.shape.width:
                        _pushed(heap, self._expand(entry), known, rank)
                weight: Any = Fraction(1)
                for probe, mask in known.items():
                    weight = weight * probe.mass(mask)
                forest.add(self._intern(kept, known, top), weight)
                covered += weight
                budget.spend(covered)
            self.slots.ask_again()
        except KeyboardInterrupt:
            budget.stopped = "interrupted"
        forest.unseen = 1 - covered
        return forest

    def _expand(self, entry: _Entry) -> list[_Entry]:
        """The sorted children of a kept entry; of a probe, the children of all tokens it may have drawn."""
        if entry.children is None:
            entry.children = []
            score = -entry.score
            if entry.token is not None:
                entry.children = self._children_of(entry, (*entry.context, entry.token), score, ())
            else:
                assert entry.probe is not None  # an entry without a token is a probe's
                for y in bits(entry.mask):
                    condition = ((entry.probe, 1 << y),)
                    entry.children += self._children_of(entry, (*entry.context, y), score, condition)
                entry.children.sort(key=_rank)
        return entry.children

    def _children_of(self, parent: _Entry | None, context: Context, score: Any, conditions: Any) -> list[_Entry]:
        slots = self.slots.at(context)
        law = next((slot.law for slot in slots if slot.law is not None), None)
        probe = None
        if law is not None:
            if id(law) not in self._full:
                self._full[id(law)] = sum(1 << y for y, mass in enumerate(law) if mass > 0)
            probe = _Probe(law, self._full[id(law)])
        entries = []
        for number, slot in enumerate(slots, start=1):
            if id(slot) not in self._ways:
                self._ways[id(slot)] = list(_ways(slot))
            for weight, tie, token, mask in self._ways[id(slot)]:
                entry = _Entry(parent, number, score * weight, tie, context)
                entry.token = token
                entry.claim = self.forest.claim(slot.claim)
                entry.mask = mask
                entry.probe = probe
                entry.conditions = conditions
                if probe is not None and mask and mask != probe.full:
                    entry.conditions = (*conditions, (probe, mask))
                entries.append(entry)
        entries.sort(key=_rank)
        return entries

    def _intern(self, kept: Any, known: dict[_Probe, int], top: int) -> int:
        """The number of the tree of kept entries in the top layers; children come before their parents in `kept`."""
        forest = self.forest
        below: dict[_Entry | None, list[tuple[int, int, int]]] = {}
        clouds: dict[_Entry | None, int] = {}
        while kept is not None:
            entry, kept = kept
            if entry.layer > top:
                continue
            tree = LEAF
            if entry in below:
                tree = self._tree(below.pop(entry), clouds.pop(entry, None))
            mask = 0
            if entry.token is None:
                mask = known.get(entry.probe, entry.mask)
                if mask & (mask - 1):
                    clouds[entry.parent] = self._cloud(entry.probe, mask)
                    mask = 0
            kind = entry.kinds.get(mask)
            if kind is None:
                token = entry.token if not mask else mask.bit_length() - 1
                kind = entry.kinds[mask] = forest.kind(entry.slot, token, entry.claim)
            siblings = below.get(entry.parent)
            if siblings is None:
                below[entry.parent] = [(entry.slot, kind, tree)]
            else:
                siblings.append((entry.slot, kind, tree))
        return self._tree(below.get(None, []), clouds.get(None))

    def _tree(self, children: list[tuple[int, int, int]], cloud: int | None) -> int:
        children.sort()
        _, family, subtrees = zip(*children, strict=True) if children else ((), (), ())
        return self.forest.tree(family, subtrees, cloud) if children else LEAF

    def _cloud(self, probe: _Probe, mask: int) -> int:
        if mask not in probe.clouds:
            mass = probe.mass(mask)
            probe.clouds[mask] = self.forest.cloud(tuple((y, probe.law[y] / mass) for y in bits(mask)))
        return probe.clouds[mask]


def _rank(entry: _Entry) -> tuple[Any, ...]:
    return (entry.floor, entry.score, entry.tie, entry.slot)


def _ways(slot: Slot) -> Iterator[tuple[Any, Any, int | None, int]]:
    """(rank weight, tie, token or None for "whatever the probe drew", mask of the probe tokens it needs)."""
    if slot.token is not None:
        yield slot.weight_of(slot.token), slot.tie_of(slot.token), slot.token, 0
    elif slot.law is not None:
        masks: dict[Any, int] = {}
        for y in tokens_of(slot):
            key = (slot.weight_of(y), slot.tie_of(y))
            masks[key] = masks.get(key, 0) | 1 << y
        for (weight, tie), mask in masks.items():
            yield weight, tie, None, mask
    else:
        assert slot.given is not None  # check_slots: one of the three is set
        held: dict[int, int] = {}
        for y, x in slot.given.items():
            held[x] = held.get(x, 0) | 1 << y
        for x, mask in held.items():
            yield slot.weight_of(x), slot.tie_of(x), x, mask


def _pushed(heap: list[Any], entries: list[_Entry], known: dict[_Probe, int], rank: int) -> list[Any]:
    """`heap` with the sorted list `entries`, children of the node of that rank in its layer, merged in."""
    place = _possible(entries, 0, known)
    if place < len(entries):
        entry = entries[place]
        item = (entry.floor, entry.score, entry.layer, entry.tie, rank, entry.slot, entries, place)
        heapq.heappush(heap, item)
    return heap


def _advanced(heap: list[Any], known: dict[_Probe, int]) -> list[Any]:
    """`heap` with the top list moved on to its next entry that may still exist."""
    *_, rank, _, entries, place = heap[0]
    place = _possible(entries, place + 1, known)
    if place < len(entries):
        entry = entries[place]
        item = (entry.floor, entry.score, entry.layer, entry.tie, rank, entry.slot, entries, place)
        heapq.heapreplace(heap, item)
    else:
        heapq.heappop(heap)
    return heap


def _possible(entries: list[_Entry], place: int, known: dict[_Probe, int]) -> int:
    while place < len(entries):
        for probe, mask in entries[place].conditions:
            if not known.get(probe, probe.full) & mask:
                break
        else:
            return place
        place += 1
    return place

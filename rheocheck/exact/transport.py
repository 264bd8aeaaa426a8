"""The best acceptance any verifier could reach at a node: optimal transport between p and the kept children.

    optimum = min over token sets H of  p(H) + 1 - Q(H),    Q(H) = P(all kept children lie in H)

By max-flow/min-cut that is the largest flow from the kept sets (supply: their probability) through their tokens
(demand: p), which is what is computed here; with max-flow there is no need to try 2^V sets.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any


def optimal_acceptance(p: Sequence[Any], kept: Mapping[frozenset[int], Any]) -> Any:
    """The optimal-transport acceptance of a node with target law p.

    kept  {set of kept tokens: mass}; masses may sum to any total, and the result scales with it.
    """
    sets = [s for s in kept if s]
    total = sum(kept.values())
    if len(sets) < 2:  # nothing to share out between sets
        return sum(min(kept[s], total * sum(p[x] for x in s)) for s in sets)
    supply = [kept[s] for s in sets]
    demand = {x: p[x] * total for x in set().union(*sets)}
    flow: dict[int, dict[int, Any]] = {x: {} for x in demand}  # token -> {set: amount}
    while True:
        path, amount = _augmenting_path(sets, supply, demand, flow)
        if path is None:
            return sum(kept[s] for s in sets) - sum(supply)
        supply[path[0][0]] -= amount
        demand[path[-1][1]] -= amount
        for step, (i, x) in enumerate(path):  # edges alternate: set -> token forward, token -> set backward
            flow[x][i] = flow[x].get(i, 0) + (amount if step % 2 == 0 else -amount)


def _augmenting_path(sets: Any, supply: Any, demand: Any, flow: Any) -> tuple[list[tuple[int, int]] | None, Any]:
    """A shortest path from a set with supply left to a token with demand left, and how much fits through it."""
    came: dict[tuple[str, int], tuple[str, int] | None] = {("set", i): None for i, s in enumerate(supply) if s > 0}
    queue = deque(came)
    while queue:
        kind, i = queue.popleft()
        if kind == "set":
            steps = [("token", x) for x in sets[i]]
        else:
            if demand[i] > 0:
                return _trace(came, i, supply, demand, flow)
            steps = [("set", j) for j, amount in flow[i].items() if amount > 0]
        for step in steps:
            if step not in came:
                came[step] = (kind, i)
                queue.append(step)
    return None, 0


def _trace(came: Any, token: int, supply: Any, demand: Any, flow: Any) -> tuple[list[tuple[int, int]], Any]:
    path: list[tuple[int, int]] = []
    room = demand[token]
    at: tuple[str, int] = ("token", token)
    while (before := came[at]) is not None:
        edge = (before[1], at[1]) if at[0] == "token" else (at[1], before[1])
        if at[0] == "set":
            room = min(room, flow[edge[1]][edge[0]])
        path.append(edge)
        at = before
    return path[::-1], min(room, supply[at[1]])

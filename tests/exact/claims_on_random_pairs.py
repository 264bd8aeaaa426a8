"""How often the paper's claims hold on random pairs, exactly: the signs and orders, not the sizes.

    python -m tests.exact.claims_on_random_pairs    # prints the table of tests/exact/CLAIMS.md

A pair of a family (s, e): six tokens, a Markov target with independent normal logits of deviation s, and a drafter
whose logits are the target's plus normal noise of deviation e, both rounded to a tenth. No seed is left out.
Of EAGLE's size these trees are not: K = 4, D = 3, N = 8, one cycle from the start.
"""

from random import Random
from statistics import NormalDist, median

from rheocheck.core import Pair, Shape
from rheocheck.exact import Sweep, sweep
from rheocheck.exact.curves.sweep import METHODS

FAMILIES = {"sharp (2, 0.5)": (2.0, 0.5), "middle (1.5, 0.7)": (1.5, 0.7), "flat (1, 1)": (1.0, 1.0)}
PAIRS, V = 50, 6
SHAPE = Shape(leads=1, branching=4, depth=3, nodes=8)
TEMPERATURES = (0.5, 1, 1.5, 2)


def random_pair(seed: int, s: float, e: float) -> Pair:
    """The pair of a seed in the family (s, e)."""
    rng = Random(seed)

    def normal() -> float:
        return NormalDist().inv_cdf(rng.random() or 0.5)  # random() alone is promised to stay as it is

    contexts = [(), *((x,) for x in range(V))]
    target = {c: [round(s * normal(), 1) for _ in range(V)] for c in contexts}
    draft = {c: [round(logit + e * normal(), 1) for logit in row] for c, row in target.items()}
    return Pair.from_logits(draft, target)


def claims(over_m: Sweep, over_T: Sweep) -> dict[str, bool]:
    """Each claim on one pair: whether it holds, in exact arithmetic."""
    fixed, slots, drawn = over_m.curves
    top, rec, rheo = (curve.at(1) for curve in over_m.curves)
    cold, probe = ([point.acceptance.root for point in curve.points] for curve in over_T.curves)
    gain = {m: drawn.at(m).expected_length - fixed.at(m).expected_length for m in range(5)}
    kept = [drawn.at(m).probe_survival for m in range(4)]
    return {
        "length: top_k < rheo + recursive": top.expected_length < rec.expected_length,
        "length: rheo + recursive < rheo + rheo": rec.expected_length < rheo.expected_length,
        "acceptance at the root: top_k < recursive < rheo": top.levels[0] < rec.levels[0] < rheo.levels[0],
        "acceptance on every layer: top_k < recursive < rheo": all(
            a < b < c for a, b, c in zip(top.levels, rec.levels, rheo.levels, strict=True)
        ),
        "acceptance per node visited: top_k < recursive < rheo": (
            top.acceptance.cycle < rec.acceptance.cycle < rheo.acceptance.cycle
        ),
        "rheo + rheo: m = 1 is the best of 0..4": drawn.best.value == 1,
        "rheo + rheo: m = 0 is the best of 0..4": drawn.best.value == 0,
        "rheo + recursive: m = 1 is the best of 0..4": slots.best.value == 1,
        "rheo + rheo: m = 1 is the best of 1..4": gain[1] == max(gain[m] for m in range(1, 5)),
        "rheo + rheo: gain over top_k at m = 3 below a quarter of that at m = 1": 4 * gain[3] < gain[1],
        "T 0.5 -> 2: acceptance of top_k at the root falls at every step": falls(cold),
        "T 0.5 -> 2: acceptance of top_k at the root is lower at the end": cold[-1] < cold[0],
        "T 0.5 -> 2: acceptance of rheo + rheo (m = 1) at the root is lower at the end": probe[-1] < probe[0],
        "T 0.5 -> 2: the distance between the two grows": probe[-1] - cold[-1] > probe[0] - cold[0],
        "probe survival falls from m = 0 to 3 at every step": falls(kept),
    }


def falls(values: list) -> bool:
    return all(a > b for a, b in zip(values, values[1:], strict=False))


def counted(s: float, e: float, pairs: int) -> tuple[dict[str, int], list[float]]:
    """({claim: on how many pairs it holds}, median expected length of rheo + rheo at m = 0..4)."""
    held: dict[str, int] = {}
    lengths: list[list[float]] = []
    for seed in range(pairs):
        pair = random_pair(seed, s, e)
        over_m = sweep(pair, "m", range(5), shape=SHAPE, ceilings=False)
        assert over_m.computed == 15
        for claim, holds in claims(over_m, sweep(pair, "T", TEMPERATURES, METHODS[::2], SHAPE, ceilings=False)).items():
            held[claim] = held.get(claim, 0) + holds
        lengths.append([float(point.expected_length) for point in over_m.curves[2].points])
    return held, [median(column) for column in zip(*lengths, strict=True)]


def main() -> None:
    found = {name: counted(s, e, PAIRS) for name, (s, e) in FAMILIES.items()}
    print(f"| of {PAIRS} pairs each, at m = 1 unless said | {' | '.join(found)} |")
    print("| --- |" + " --- |" * len(found))
    for claim in next(iter(found.values()))[0]:
        print(f"| {claim} | {' | '.join(str(held[claim]) for held, _ in found.values())} |")
    shown = (" ".join(f"{length:.2f}" for length in lengths) for _, lengths in found.values())
    print(f"| median length of rheo + rheo at m = 0..4 | {' | '.join(shown)} |")


if __name__ == "__main__":
    main()

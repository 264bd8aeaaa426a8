"""Plain runs of the real code behind an exact "no bias found": what could an enumeration not see, and how much of it?

Interception sees the doors through which randomness enters that it knows. So the code is also run as it is, n times,
and its words are compared with the enumerated law e. P: the law of the code as it runs (of draws from several
processes: the mean of their laws); Phat: what was drawn; delta = 1e-6.

    contradiction   chi-square of the draws against e, all together and process by process: p-value below delta
    hidden_event    an event of probability x that emits a word which e never has is missed by all n runs with
                    probability (1 - x)^n: x is at most 1 - delta^(1/n), or it would have been seen (200 runs: 0.067)
    hidden_tv       a bias among words that e has may hide in the noise of the draws. One draw moves TV(Phat, e) by
                    1/n at most, and E TV(Phat, e) >= TV(P, e), so by McDiarmid's inequality
                    TV(P, e) <= TV(Phat, e) + sqrt(ln(1/delta) / 2n) with probability 1 - delta

Both take the runs to be independent of each other: state that a subject keeps between calls is refused as far as an
enumeration sees it. The number n is planned before the first draw that counts, from the time that a few others took:
it does not depend on what is drawn. Only numbers of a short list are planned, so that a report hangs little on the
clock.
"""

import math
import time
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from tqdm import tqdm

from rheocheck.audit.boundaries import edge_p_value
from rheocheck.audit.processes import Importable, Processes, Unable
from rheocheck.audit.streams import PLAIN, PLAIN_RUNS, PLANNING, session_seed
from rheocheck.audit.subject import LiveSource
from rheocheck.core.pair import Context
from rheocheck.intercept.seeding import seed_globals
from rheocheck.stats.chi_square import chi_square

CONTRADICTION = 1e-6
NUMBERS = (200, 500, 1000, 2000, 5000, 10_000, 20_000)
QUICK, LONGEST = 0.1, 60.0  # seconds that are always worth it, and at most
WARM = 5  # calls that tell the time, and count for nothing
DIFFER = (
    "the law differs between processes: in this one alone the plain runs fit (what hangs on the order of a set or on "
    "hash() of a str does, and so does state that another process does not have)"
)


@dataclass(frozen=True)
class PlainRuns:
    """What plain runs exclude. `hidden_tv` of a subject and a baseline is the sum of both.

    runs, processes  how many of each side, in how many processes
    planned          more than `runs` where Ctrl-C ended them
    agrees           whether they can come from the enumerated law
    p_value          the smallest one of all comparisons, times their number
    """

    runs: int
    processes: int
    planned: int
    hidden_tv: float
    hidden_event: float
    p_value: float
    agrees: bool
    notes: tuple[str, ...] = ()

    @property
    def interrupted(self) -> bool:
        return self.runs < self.planned

    @property
    def text(self) -> str:
        """The comparison in words."""
        says = "fit" if self.agrees else "contradict"
        return f"{self.runs} plain draws {says} the enumerated law (p-value {self.p_value:.2g})"


@dataclass(frozen=True)
class Side:
    """A subject, the law that was enumerated of it, and the name by which another process imports it.

    law    {cell: probability}, above 0
    never  words of events of probability zero, which rounded generators hit now and then
    """

    subject: Any
    law: Mapping[Hashable, float]
    cell: Callable[[Context], Hashable]
    name: Importable | None
    never: frozenset[Context] = frozenset()


def plain_runs(
    sides: Sequence[Side],
    context: Context,
    tokens: int,
    *,
    seed: int,
    seconds: float,
    number: int | None = None,
    eos: int | None = None,
    progress: bool | None = None,
) -> PlainRuns:
    """Run every side plainly: `number` times, or at least 200 times and for about as long as `seconds`."""
    runs, notes, p_values, hidden, processes = [], [], [], 0.0, []
    planned = 0
    for i, side in enumerate(sides):
        source = LiveSource(
            side.subject, context, tokens, seed=seed, stream=PLAIN + i, one_by_one=True, eos=eos
        )  # fmt: skip
        n = number or planned or _planned(source, seconds, seed)
        planned = n
        here, others, note = _drawn(side, source, n, seed, PLAIN + i, progress)
        notes += [] if note is None else [note]
        groups = [here, *others]
        words = [word for group in groups for word in group]
        alone = _p_value(here, side)
        p_value = min(1.0, min(_p_value(group, side) for group in [words, *groups]) * (len(groups) + 1))
        if p_value < CONTRADICTION <= alone and others:
            notes.append(DIFFER)
        p_values.append(p_value)
        hidden += _hidden_tv(words, side, CONTRADICTION / len(sides))
        runs.append(len(words))
        processes.append(len(groups))
    least = min(runs)
    event = 1 - CONTRADICTION ** (1 / least) if least else 1.0
    p_value = min(1.0, min(p_values) * len(sides))
    agrees = p_value >= CONTRADICTION
    return PlainRuns(
        least, min(processes), planned, min(1.0, hidden), event, p_value, agrees, tuple(dict.fromkeys(notes))
    )


def _planned(source: LiveSource, seconds: float, seed: int) -> int:
    """How many runs: those that take about so many seconds, rounded down to a number of the list."""
    if not source.seeded:
        seed_globals(session_seed(seed, 0, PLANNING))
    times = []
    for _ in range(WARM):
        started = time.perf_counter()
        source.draw(1)
        times.append(time.perf_counter() - started)
    affordable = min(max(seconds, QUICK), LONGEST) / max(median(times), 1e-9)
    return max((n for n in NUMBERS if n <= affordable), default=NUMBERS[0])


def _drawn(
    side: Side, source: LiveSource, n: int, seed: int, stream: int, progress: bool | None
) -> tuple[list[Context], list[list[Context]], str | None]:
    """Words drawn here, those drawn by each other process, and why there are none of the latter if that is a surprise.

    A fifth of the runs stays here; the others begin before that, and are waited for afterwards.
    """
    if not source.seeded:
        seed_globals(session_seed(seed, 0, PLAIN_RUNS))
    if side.name is None or n <= Processes.COUNT:
        return _here(source, n, progress), [], None
    pool, share = Processes.shared(), n // (Processes.COUNT + 1)
    pool.begin(
        [
            side.name.job(
                source.context, source.tokens, source.eos, share, seed, session_seed(seed, k + 1, PLAIN_RUNS), stream, k
            )
            for k in range(Processes.COUNT)
        ]
    )
    started, here = time.monotonic(), list[Context]()
    try:
        here = _here(source, n - Processes.COUNT * share, progress)
        if len(here) < n - Processes.COUNT * share:
            raise KeyboardInterrupt
        return here, pool.finish(time.monotonic() - started), None
    except Unable as error:
        here += _here(source, Processes.COUNT * share, progress)
        return here, [], f"the plain runs stayed in one process, another one could not run the subject: {error}"
    except KeyboardInterrupt:
        pool.close()
        return here, [], None
    except BaseException:
        pool.close()
        raise


def _here(source: LiveSource, wanted: int, progress: bool | None) -> list[Context]:
    """So many words drawn in this process, fewer when Ctrl-C comes."""
    words: list[Context] = []
    disable = None if progress is None else not progress
    with tqdm(total=wanted, unit="run", desc="plain runs", disable=disable, leave=False) as bar:
        try:
            while len(words) < wanted:
                words += [tuple(int(x) for x in word) for word in source.draw(1).words]
                bar.update()
        except KeyboardInterrupt:
            pass
    return words


def _counted(words: list[Context], side: Side) -> tuple[np.ndarray, np.ndarray]:
    """Counts and probabilities of the law's cells; the last ones are of all words that it does not have."""
    found: Counter[Hashable] = Counter()
    for word, times in Counter(words).items():  # a cell once for each word: finding it is what takes time
        found[side.cell(word)] += times
    counts = np.array([*(found[cell] for cell in side.law), 0], dtype=np.int64)
    counts[-1] = len(words) - counts.sum()
    p = np.array([*side.law.values(), 0.0])
    p[-1] = max(0.0, 1 - math.fsum(p)) if math.fsum(p) < 1 - 1e-12 else 0.0  # what was not enumerated
    return counts, p / p.sum()


def _hidden_tv(words: list[Context], side: Side, delta: float) -> float:
    """The upper confidence bound 1 - delta on TV between the code as it runs and the law that was enumerated."""
    if not words:
        return 1.0
    counts, p = _counted(words, side)
    seen = float(np.maximum(counts / len(words) - p, 0.0).sum())
    return min(1.0, seen + math.sqrt(math.log(1 / delta) / (2 * len(words))) + float(p[-1]))


def _p_value(words: list[Context], side: Side) -> float:
    """Of the null that the words come from the law, but for rounding that hits events of probability zero."""
    edge = sum(word in side.never for word in words)
    counts, p = _counted([word for word in words if word not in side.never], side)
    if edge_p_value(edge, len(words)) < CONTRADICTION:
        return 0.0
    return chi_square(counts, p).p_value

"""Evidence about two subjects of which neither law is known: the same engine with speculation on and off.

Null: at every step the two draws are exchangeable. E is the mean of sign bets on the words of the object and of sign
bets on token ratios of whole words. The bound speaks of one object: the joint law of the longest prefix that showed at
most 512 different words in a pilot, which is thrown away.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rheocheck.audit.evidence import Draws
from rheocheck.audit.tally import Tally
from rheocheck.audit.verdict import Boundary, Witness
from rheocheck.audit.witness import witness_against_sample
from rheocheck.core.pair import Context
from rheocheck.stats.chi_square import chi_square_two_sample, total_variation
from rheocheck.stats.plan import plan, smallest_detectable_tv
from rheocheck.stats.two_sample import SignBetting, StringBetting

Ints = NDArray[np.int64]
OBJECT_CELLS = 512


class AgainstBaseline:
    """What paired draws say about TV(subject, baseline)."""

    reference = "baseline"

    def __init__(self, pilot: Ints, context: Context, tokens: int, *, eps: float, alpha: float, delta: float) -> None:
        self.context, self.tokens = context, tokens
        self.tally, self.other = Tally(tokens), Tally(tokens)
        seen = [len(np.unique(pilot[:, :n], axis=0)) for n in range(1, tokens + 1)]
        self.length = max((n for n in range(1, tokens + 1) if seen[n - 1] <= OBJECT_CELLS), default=1)
        counts = np.unique(pilot[:, : self.length], axis=0, return_counts=True)[1]
        law = np.append(counts + 0.5, 0.5)  # one more cell for all that the pilot did not show
        self.law = law / law.sum()
        self.plan = plan(self.law, tv=eps / math.sqrt(2), alpha=alpha, delta=delta, simulate=0)  # two samples: 2 n
        self._signs, self._strings = SignBetting(delta=delta), StringBetting(tokens)
        self._codes: dict[Context, int] = {}
        self.peak = self.log_e = 0.0
        self.tv_upper = 1.0

    @property
    def n(self) -> int:
        return self.tally.n

    def object(self) -> str:
        """What the bound on TV is about."""
        prefix = "first token" if self.length == 1 else f"joint prefix of {self.length} tokens"
        return f'{prefix} after context "{" ".join(map(str, self.context))}"'

    def add(self, *draws: Draws) -> None:
        """Equally many draws of the subject and of the baseline, in order: pairs."""
        words, reference = (drawn.words for drawn in draws)
        self.tally.add(words)
        self.other.add(reference)
        self._signs.update(self._numbered(words), self._numbered(reference))
        self._strings.update(words, reference)

    def look(self) -> None:
        """Bring log_e, peak and tv_upper up to date."""
        self.log_e = float(np.logaddexp(self._signs.log_e(), self._strings.log_e()) - math.log(2))
        self.peak = max(self.peak, self.log_e)
        self.tv_upper = self._signs.tv_upper()

    def clean(self) -> bool:
        """Nothing is known of dependence between draws: no law says how likely a repetition is."""
        return True

    def statistics(self) -> dict[str, float]:
        """log10 E of each statistic."""
        found = {"joint prefix": self._signs.log_e(), "token ratios": self._strings.log_e()}
        return {name: value / math.log(10) for name, value in found.items()}

    def estimate(self) -> float:
        """Plug-in estimate of TV of the object; above 0 even without a bias."""
        a, b = self._both()
        return total_variation(a / max(1, a.sum()), b / max(1, b.sum()))

    def tv_lower(self, delta: float) -> float:
        """No lower bound is offered for two samples."""
        return 0.0

    def detectable(self, alpha: float) -> float:
        """Smallest TV of the object found with power 99.9 %: two samples see what one sample of half the size does."""
        return smallest_detectable_tv(self.law, self.n // 2, alpha)

    def cross_check(self) -> float:
        """The classical p-value, at this sample size: chi-square homogeneity on the object."""
        return chi_square_two_sample(*self._both()).p_value

    def diagnosis(self) -> str | None:
        """No fault can be named without the laws."""
        return None

    def witness(self) -> Witness:
        found = witness_against_sample(self.tally, self.other)
        return Witness(self.context + found.context, found.token, found.emitted, found.target)

    def boundary_tokens(self) -> tuple[Boundary, ...]:
        """None: no filter of a target is known."""
        return ()

    def state(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "tally": self.tally.state(),
            "other": self.other.state(),
            "codes": [[*word] for word in self._codes],
            "signs": self._signs.state(),
            "strings": self._strings.state(),
            "peak": self.peak,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from `state()` of the same question."""
        self.tally.restore(state["tally"])
        self.other.restore(state["other"])
        self._codes = {tuple(word): code for code, word in enumerate(state["codes"])}
        self._signs = SignBetting.restore(state["signs"])
        self._strings = StringBetting.restore(state["strings"])
        self.peak = state["peak"]
        self.look()

    def _numbered(self, words: Ints) -> Ints:
        """A number for the object's prefix of every word, in order of appearance."""
        prefixes, where = np.unique(words[:, : self.length], axis=0, return_inverse=True)
        codes = [self._codes.setdefault(tuple(int(x) for x in row), len(self._codes)) for row in prefixes]
        return np.array(codes, dtype=np.int64)[where.ravel()] if len(words) else np.zeros(0, dtype=np.int64)

    def _both(self) -> tuple[Ints, Ints]:
        """Counts of the object's prefixes in both samples."""
        a, b = (t.prefix_counts(self.length, self._numbered, len(self._codes)) for t in (self.tally, self.other))
        return a, b

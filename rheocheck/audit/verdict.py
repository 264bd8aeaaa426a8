"""The verdict of an audit: one value with everything that its report prints."""

import dataclasses
import json
from dataclasses import dataclass
from typing import Any

from rheocheck.core.pair import Context

EXIT_CODES = {"lossless": 0, "no_bias_found": 0, "biased": 1, "inconclusive": 3}


@dataclass(frozen=True)
class Witness:
    """The next token with the largest certified error: what came after `context`, what the target says.

    token       null where no token came: the text ended, or there was no output at all
    impossible  in words, why no law over the vocabulary emits it; null for what it merely emits too often or too rarely
    hits        of an impossible output that was drawn: how many draws had it; null otherwise
    """

    context: Context
    token: int | None
    emitted: float
    target: float
    impossible: str | None = None
    hits: int | None = None


@dataclass(frozen=True)
class BoundaryToken:
    """A token within rounding of a filter's cut-off after `context`, and how often it was emitted there.

    hits     of the draws; 0 where there are none
    emitted  its exact probability there, from an enumeration; None otherwise
    """

    context: Context
    token: int
    target: float
    hits: int
    emitted: float | None = None


@dataclass(frozen=True)
class ShownStep:
    """One random choice on a path: branch `index` of `outcomes` was taken, which has probability `weight`.

    line, caller  where it was made, and what called the function of that line; None where that is the subject
    """

    index: int
    outcomes: int
    weight: float
    what: str
    line: str
    caller: str | None = None


@dataclass(frozen=True)
class ShownPath:
    """Random choices that lead to `word`, in order, and the command that runs the subject through them again.

    stop    in words, why `word` is shorter than was asked; null where it is not
    reuses  noise that decided more than one thing on the way, a sentence each
    """

    word: Context
    weight: float
    choices: tuple[ShownStep, ...]
    replay: str
    stop: str | None = None
    reuses: tuple[str, ...] = ()


@dataclass(frozen=True)
class BoundaryFault:
    """An event of probability zero on which the subject emits `word`, which the reference never does.

    Real generators round: there the event may have a probability of 2^-24. It is no part of TV. stop: as of a path.
    """

    word: Context
    what: str
    line: str
    stop: str | None = None


@dataclass(frozen=True)
class Verdict:
    """What an audit found. Neither sampling nor the exact law of float code earns `lossless`.

    verdict                 lossless | no_bias_found | biased | inconclusive
    method                  sampled; exact: every random choice enumerated; interval: an enumeration cut short
    total_variation         TV between the two laws of `object`. sampled: an estimate, above 0 even without a bias;
                            interval, or an object with too many possible words: null
    total_variation_upper   TV is at most this with `confidence`, at every look; 1 where the draws show dependence
    total_variation_lower   TV is at least this with `confidence`; sampled: 0 unless biased, and where the draws show
                            dependence
    confidence              1 where no draw is behind the bounds
    object, tokens          the words that TV is about, and how many tokens they have
    asked                   whether that was asked for, by tokens or drafts; else it is what the draws allowed can bound
    reference               what it was compared with: target or baseline
    p_value                 of the null "the draws have the target's law": 1 / (largest E of all looks); null before the
                            first draw
    e_value, log10_e        E when the run stopped: an e-value, so those of independent runs may be multiplied (the
                            largest may not); null when infinite (then p_value is 0), e_value also beyond a float
    statistics              log10 E of each bet that had data at the last look; null where E is infinite
    cross_check             p-value of the classical chi-square test at the final sample size
    diagnosis, confirmation what the bias looks like, and what fresh seeds say of it
    samples                 draws that the verdict rests on: 0 when it is exact (a confirmation says how many it took)
    paths, unseen           enumerated paths, and the probability that they leave out; null when sampled
    seconds, stopped        how long an enumeration took, and what cut it short: max_paths, max_seconds, interrupted
    smallest_detectable_tv  any bias of this TV would have been found: with power 99.9 % by draws, for certain by an
                            enumeration; 1.0: none for certain
    tolerance               exact methods: up to this TV the float code and the float law may differ by rounding
    alpha, tv               what the audit was asked: false-alarm rate, and the bias worth finding
    witness                 where the bias is seen best; null unless biased, and where the bias is one of dependence
    seed                    the seed that repeats the run, "best effort", or null for recorded samples
    path                    exact methods: random choices that end in the witness, beyond what the target explains, and
                            how to rerun them
    plain_runs, plain_processes   exact methods: runs of the code without interception behind "no bias found", and the
                            processes they were spread over; null where the verdict needs none
    hidden_tv, hidden_event what these runs leave possible, each with confidence 1 - 1e-6: randomness of a call that
                            interception cannot see may change the enumerated law by this TV; an event that emits a
                            word which is not in that law has at most this probability. Of what a process draws once,
                            at import, nothing is said: it was seen once in each
    fresh_draws             draws of the live subject at the fresh look of a resumed audit; null where none was taken
    boundary_faults         exact methods: what the subject emits on events of probability zero and the reference never
    interrupted             whether Ctrl-C ended the draws or the enumeration
    notes                   what the reader must know besides, one sentence each
    """

    verdict: str
    method: str
    total_variation: float | None
    total_variation_upper: float | None
    confidence: float
    object: str
    reference: str
    p_value: float | None
    e_value: float | None
    samples: int
    paths: int | None
    smallest_detectable_tv: float
    alpha: float
    tv: float
    witness: Witness | None
    seed: int | str | None
    boundary_tokens: tuple[BoundaryToken, ...] = ()
    notes: tuple[str, ...] = ()
    total_variation_lower: float = 0.0
    log10_e: float | None = None
    statistics: dict[str, float | None] | None = None
    cross_check: float | None = None
    diagnosis: str | None = None
    confirmation: str | None = None
    interrupted: bool = False
    unseen: float | None = None
    seconds: float | None = None
    stopped: str | None = None
    tolerance: float | None = None
    path: ShownPath | None = None
    boundary_faults: tuple[BoundaryFault, ...] = ()
    plain_runs: int | None = None
    plain_processes: int | None = None
    hidden_tv: float | None = None
    hidden_event: float | None = None
    fresh_draws: int | None = None
    tokens: int | None = None
    asked: bool = True

    @property
    def exit_code(self) -> int:
        """0 for lossless and no_bias_found, 1 for biased, 3 for inconclusive."""
        return EXIT_CODES[self.verdict]

    def to_dict(self) -> dict[str, Any]:
        """The JSON object: plain dicts, lists, numbers and strings."""
        return dataclasses.asdict(self)

    def to_json(self) -> str:
        """The verdict as JSON text. Every number in it is finite."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False)

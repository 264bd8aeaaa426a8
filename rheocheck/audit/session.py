"""Drawing until the evidence decides: looks at growing sample sizes, a bar with the current bound, resumable.

E may be looked at any number of times, so a run that was stopped is continued as if it had never been: the evidence
keeps multiplying. A resumed run draws with fresh seeds (session 1, 2, ... of the same root).
"""

import json
import math
import os
from pathlib import Path
from typing import Any

from tqdm import tqdm

from rheocheck.audit.evidence import Draws, Evidence
from rheocheck.audit.subject import Source, seed_globals
from rheocheck.core.errors import InputError
from rheocheck.stats.plan import looks

FORMAT = 1
FIRST_LOOK = 1000


class Session:
    """One audit in progress.

    sources  the subject, and the baseline if there is one; drawn in turns
    limit    draws at which to stop undecided
    eps, threshold  stop with a pass at tv_upper <= eps, with a fail at peak >= threshold (ln)
    """

    def __init__(
        self,
        evidence: Evidence,
        sources: list[Source],
        *,
        limit: int,
        eps: float,
        threshold: float,
        progress: bool | None,
    ) -> None:
        self.evidence, self.sources = evidence, sources
        self.limit, self.eps, self.threshold, self.progress = limit, eps, threshold, progress
        self.interrupted = False

    def decided(self) -> str | None:
        """ "biased", "no_bias_found", or None."""
        if self.evidence.peak >= self.threshold:
            return "biased"
        if self.evidence.tv_upper <= self.eps and self.evidence.clean():
            return "no_bias_found"
        return None

    def run(self, seed: int, save: "Checkpoint | None" = None) -> None:
        """Draw, look, save, until decided, at the limit, or interrupted by Ctrl-C."""
        if not all(source.seeded for source in self.sources):
            seed_globals(seed)
        sizes = (n for n in looks(FIRST_LOOK) if n > self.evidence.n)
        with tqdm(
            total=self.limit,
            initial=self.evidence.n,
            unit="draw",
            desc="drawing",
            disable=None if self.progress is None else not self.progress,
        ) as bar:
            try:
                while self.decided() is None and self.evidence.n < self.limit:
                    wanted = min(next(sizes), self.limit) - self.evidence.n
                    drawn = self._draw(wanted, bar)
                    self.evidence.add(*drawn)
                    self.evidence.look()
                    bar.set_postfix_str(f"TV <= {self.evidence.tv_upper:.4f}, E = {power_of_ten(self.evidence.log_e)}")
                    if save is not None:
                        save.write(self.evidence)
                    if self.interrupted:
                        break
            except KeyboardInterrupt:
                self.interrupted = True

    def _draw(self, wanted: int, bar: Any) -> list[Draws]:
        """`wanted` draws of every source; fewer when Ctrl-C comes in between, equally many of each."""
        parts: list[list[Draws]] = [[] for _ in self.sources]
        done = [0] * len(self.sources)
        try:
            while min(done) < wanted:
                i = done.index(min(done))  # whoever is behind
                part = self.sources[i].draw(min(self.sources[i].batch, wanted - done[i]))
                parts[i].append(part)
                before = min(done)
                done[i] += len(part)
                bar.update(min(done) - before)
        except KeyboardInterrupt:
            self.interrupted = True
        tokens = self.sources[0].tokens
        return [Draws.joined(part, tokens).first(min(done)) for part in parts]


class Checkpoint:
    """The file of a resumable audit: the question it asks, the evidence so far, and how often it was resumed."""

    def __init__(self, path: str, question: dict[str, Any]) -> None:
        self.path, self.question = Path(path), question
        self.session = 0

    def read(self, evidence: Evidence) -> None:
        """Go on from the file, if there is one. Raises InputError when it is no such file or asks something else."""
        if not self.path.exists():
            return
        try:
            saved = json.loads(self.path.read_text(encoding="utf-8"))
            if saved["rheocheck audit"] != FORMAT:
                raise KeyError("rheocheck audit")
            question, state, session = saved["question"], saved["evidence"], int(saved["session"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"--resume {str(self.path)!r} must be a file that an audit wrote, got {type(error).__name__}: {error}; "
                "name another file, and it will be made"
            ) from None
        for key, value in self.question.items():
            if question.get(key) != value:
                raise InputError(
                    f"--resume {str(self.path)!r} must continue the same question, got {key} = {question.get(key)!r} "
                    f"there and {value!r} now; use the same options, or another file"
                )
        try:
            evidence.restore(state)
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise InputError(
                f"--resume {str(self.path)!r} must hold the evidence of this audit, got {type(error).__name__}: "
                f"{error}; the file is damaged or of another version: name another one"
            ) from None
        self.session = session + 1

    def write(self, evidence: Evidence) -> None:
        """Save; the old file stays whole until the new one is complete."""
        saved = {
            "rheocheck audit": FORMAT,
            "session": self.session,
            "question": self.question,
            "evidence": evidence.state(),
        }
        partial = self.path.with_name(self.path.name + ".partial")
        try:
            partial.write_text(json.dumps(saved, allow_nan=False), encoding="utf-8")
            os.replace(partial, self.path)
        except OSError as error:
            raise InputError(f"--resume {str(self.path)!r} must be writable: {error.strerror or error}") from None


def power_of_ten(log_e: float) -> str:
    """E for reading: "10^2.3", or "infinite"."""
    return f"10^{log_e / math.log(10):.1f}" if math.isfinite(log_e) else "infinite"

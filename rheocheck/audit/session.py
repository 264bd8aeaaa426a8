"""Drawing until the evidence decides: looks at growing sample sizes, a bar with the current bound, resumable.

E may be looked at any number of times, so a run that was stopped is continued as if it had never been: the evidence
keeps multiplying. A resumed run goes on where the seeds of the one before ended; a subject that takes no seed gets the
global generators seeded afresh.
"""

import hashlib
import json
import math
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tqdm import tqdm

from rheocheck.audit.evidence import Draws, Evidence
from rheocheck.audit.fingerprint import Fingerprint, changes
from rheocheck.audit.subject import RecordedSource, Source
from rheocheck.core.errors import InputError
from rheocheck.intercept.seeding import seed_globals
from rheocheck.stats.plan import looks

FORMAT = 4
FIRST_LOOK = 1000


class Session:
    """One audit in progress.

    sources  the subject, and the baseline if there is one; drawn in turns
    limit    draws at which to stop undecided
    tv, threshold  stop with a pass at tv_upper <= tv, with a fail at peak >= threshold (ln); not before the end of a
                   recording, which costs nothing to read
    """

    def __init__(
        self,
        evidence: Evidence,
        sources: list[Source],
        *,
        limit: int,
        tv: float,
        threshold: float,
        progress: bool | None,
    ) -> None:
        self.evidence, self.sources = evidence, sources
        self.limit, self.tv, self.threshold, self.progress = limit, tv, threshold, progress
        self.recorded = any(isinstance(source, RecordedSource) for source in sources)
        self.interrupted = self._drawing = False

    def decided(self) -> str | None:
        """ "biased", "no_bias_found", or None."""
        if self.evidence.peak >= self.threshold:
            return "biased"
        if self.evidence.tv_upper <= self.tv and self.evidence.clean():
            return "no_bias_found"
        return None

    def run(self, seed: int, save: "Checkpoint | None" = None) -> None:
        """Draw, look, save, until decided, at the limit, or interrupted by Ctrl-C."""
        if not all(source.seeded for source in self.sources):
            seed_globals(seed)
        disable = None if self.progress is None else not self.progress
        with tqdm(
            total=self.limit, initial=self.evidence.n, unit="draw", desc="drawing", disable=disable
        ) as bar, self._ctrl_c():  # fmt: skip
            while not self._finished():
                drawn = self._draw(self._next_look() - self.evidence.n, bar)
                self.evidence.add(*drawn)
                self.evidence.look()
                bar.set_postfix_str(f"TV <= {self.evidence.tv_upper:.4f}, E = {power_of_ten(self.evidence.log_e)}")
                if save is not None:
                    save.write(self.evidence, self.sources)

    def _next_look(self) -> int:
        """Draws at the next look: a usual one, one that the evidence has planned, or the last."""
        n = self.evidence.n
        usual = next(size for size in looks(FIRST_LOOK) if size > n)
        return min([usual, self.limit, *(size for size in self.evidence.planned if size > n)])

    def _finished(self) -> bool:
        if self.interrupted or self.evidence.n >= self.limit:
            return True
        return self.decided() is not None and not self.recorded

    def _draw(self, wanted: int, bar: Any) -> list[Draws]:
        """`wanted` draws of every source; fewer when Ctrl-C comes in between, equally many of each."""
        parts: list[list[Draws]] = [[] for _ in self.sources]
        done = [0] * len(self.sources)
        try:
            while min(done) < wanted and not self.interrupted:
                i = done.index(min(done))  # whoever is behind
                self._drawing = True
                part = self.sources[i].draw(min(self.sources[i].batch, wanted - done[i]))
                self._drawing = False
                parts[i].append(part)
                before = min(done)
                done[i] += len(part)
                bar.update(min(done) - before)
        except KeyboardInterrupt:
            self.interrupted = True
        except InputError:
            if not self.interrupted:  # Ctrl-C may come out of a subject as any exception
                raise
        self._drawing = False
        tokens = self.sources[0].tokens
        return [Draws.joined(part, tokens).first(min(done)) for part in parts]

    @contextmanager
    def _ctrl_c(self) -> Iterator[None]:
        """The first Ctrl-C stops the drawing, and never cuts a look in half; a second one is not caught."""

        def stop(*_: Any) -> None:
            signal.signal(signal.SIGINT, before)
            self.interrupted = True
            if self._drawing:
                raise KeyboardInterrupt

        try:
            before = signal.signal(signal.SIGINT, stop)
        except ValueError:  # not in the main thread: there is no Ctrl-C to catch
            yield
            return
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)


class Checkpoint:
    """The file of a resumable audit: the question it asks, the evidence so far, and how often it was resumed.

    code     what stands behind subject and target (`fingerprint`); where it changed, the file is of something else
    anyway   go on although it changed, and say so for ever
    saved    the evidence and the calls of each source that the file holds; None for a new file
    session  0 for a new file, one more for every time it was taken up
    remarks  what every later verdict says: where the audit went on although something had changed
    """

    def __init__(
        self, path: str, question: dict[str, Any], code: Fingerprint | None = None, anyway: bool = False
    ) -> None:
        self.path, self.question = Path(path), json.loads(json.dumps(question))
        self.code, self.anyway = code or {}, anyway
        self.session = 0
        self.remarks: list[str] = []
        self.saved: dict[str, Any] | None = None
        if self.path.exists():
            self.saved = self._read()
            self.session = self.saved["session"] + 1
            self.remarks = [*self.saved["remarks"], *self._changed()]

    def _read(self) -> dict[str, Any]:
        """What the file holds. Raises InputError when it is no such file, is damaged, or asks something else."""
        try:
            text = self.path.read_text(encoding="utf-8")
            saved = json.loads(text)
            version = saved.get("rheocheck audit") if isinstance(saved, dict) else None
            if type(version) is int and version < FORMAT:
                raise ValueError(f"one of version {version} of the file, which does not say what code it is about")
            if version != FORMAT:
                raise ValueError('no "rheocheck audit" of this version')
            if saved.pop("digest", None) != _digest(_text(saved)):
                raise ValueError("its digest does not fit its content")
        except (OSError, ValueError, RecursionError) as error:
            raise InputError(
                f"--resume {str(self.path)!r} must be a whole file that an audit wrote, got {error}: "
                "name another file, and it will be made"
            ) from None
        for key in sorted(self.question.keys() | saved["question"].keys()):
            there, now = saved["question"].get(key), self.question.get(key)
            if there != now:
                raise InputError(
                    f"--resume {str(self.path)!r} must continue the same question, got {key} = {there!r} there "
                    f"and {now!r} now: use the same options, or another file"
                )
        return saved

    def _changed(self) -> list[str]:
        """Remarks on what changed since the file was written. Raises InputError unless the audit goes on anyway."""
        assert self.saved is not None  # asked of a file that was read
        found = changes(self.saved["code"], self.code)
        if found and not self.anyway:
            raise InputError(
                f"--resume {str(self.path)!r} must continue with the code it began with, got {_listed(found)}: begin "
                "anew with another file, or say --resume-anyway"
            )
        return [f"session {self.session + 1} went on by --resume-anyway although {text}" for text in found]

    def restore(self, evidence: Evidence) -> None:
        """Take up the saved evidence. Raises InputError where it is of another law."""
        if self.saved is None:
            return
        try:
            evidence.restore(self.saved["evidence"])
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise InputError(
                f"--resume {str(self.path)!r} must hold the evidence of this audit, got {error}: "
                "has the law changed? name another file, and it will be made"
            ) from None

    def calls(self, source: int) -> int:
        """How many calls of this source the saved evidence has used up."""
        return 0 if self.saved is None else int(self.saved["calls"][source])

    def write(self, evidence: Evidence, sources: list[Source]) -> None:
        """Save; the old file stays whole until the new one is complete."""
        content = _text(
            {
                "rheocheck audit": FORMAT,
                "session": self.session,
                "question": self.question,
                "code": self.code,
                "remarks": self.remarks,
                "calls": [source.calls for source in sources],
                "evidence": evidence.state(),
            }
        )
        partial = self.path.with_name(self.path.name + ".partial")
        try:
            partial.write_text(f'{content[:-1]}, "digest": "{_digest(content)}"}}', encoding="utf-8")
            os.replace(partial, self.path)
        except OSError as error:
            raise InputError(
                f"--resume {str(self.path)!r} must be writable, got {error.strerror or error}: name another file"
            ) from None


def _listed(found: list[str]) -> str:
    """The first few of them, and how many others."""
    return "; ".join(found[:4]) + (f"; and {len(found) - 4} more" if len(found) > 4 else "")


def power_of_ten(log_e: float) -> str:
    """E for reading: "10^2.3", or "infinite"."""
    return f"10^{round(log_e / math.log(10), 1) + 0.0:.1f}" if math.isfinite(log_e) else "infinite"  # never "-0.0"


def _text(content: dict[str, Any]) -> str:
    """The same text for the same content, written or read back."""
    return json.dumps(content, sort_keys=True, allow_nan=False)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()

"""The assertions of the `rheocheck` fixture. Each has a fixed share of the suite's alpha and a seed of its own."""

import math
from typing import Any

from rheocheck.audit.sampled import audit
from rheocheck.audit.verdict import Verdict
from rheocheck.core.decoder import Builder, Verifier
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context, Pair
from rheocheck.core.shape import Shape
from rheocheck.exact import Verification, verify
from rheocheck.pytest_plugin.settings import Record, SuiteSettings
from rheocheck.report.audit_text import audit_text
from rheocheck.report.exact_text import came
from rheocheck.report.verify_text import verify_text


class Assertions:
    """One test's assertions; `records` go to the report of the test."""

    def __init__(self, nodeid: str, settings: SuiteSettings) -> None:
        self.nodeid, self.settings = nodeid, settings
        self.records: list[Record] = []

    def lossless(
        self,
        subject: Any,
        *,
        target: Any,
        tokens: int | None = None,
        drafts: int | None = None,
        context: Context = (),
        eps: float | None = None,
        samples: int | None = None,
        rtol: float | None = None,
        eos: int | None = None,
        allow_inconclusive: bool = False,
    ) -> Verdict:
        """The subject emits the target's law of `tokens` tokens after `context`: fails on any sign that it does not.

        subject  a callable (context, n_tokens[, seed]) -> ids, one with `.sample`, or recorded samples
        target   a Pair, a law(context) -> probabilities, or "module:attr"
        tokens   a pass is about exactly so many tokens; drafts=K: about K + 2, which show the bonus token of a decoder
                 with K drafts and its next round. With neither 4 are drawn, and a pass is about the longest prefix of
                 them that the draws allowed can bound: a longer one stays out of sight
        eps      the total variation that a pass rules out (--rheo-eps, else 0.02); samples: draws at most
        eos      the subject may stop: texts end behind this token, of the subject and of the target

        Null: every token has the target's law given everything before it; a correct subject fails with probability
        at most the suite's alpha / 1000. A pass does not say that the law is exact: it says TV <= eps, 99.9 %.
        """
        return self._sampled(subject, eps, samples, allow_inconclusive, target=target, tokens=tokens, drafts=drafts,
                             context=context, rtol=rtol, eos=eos)  # fmt: skip

    def same_law(
        self,
        a: Any,
        b: Any,
        *,
        tokens: int | None = None,
        drafts: int | None = None,
        context: Context = (),
        eps: float | None = None,
        samples: int | None = None,
        eos: int | None = None,
        allow_inconclusive: bool = False,
    ) -> Verdict:
        """Two subjects emit one law, whatever it is: the same engine with speculation on and off."""
        return self._sampled(a, eps, samples, allow_inconclusive, baseline=b, tokens=tokens, drafts=drafts,
                             context=context, eos=eos)  # fmt: skip

    def exactly_lossless(
        self, builder: Builder, verifier: Verifier, pair: Pair, shape: Shape | None = None, *, tokens: int | None = None
    ) -> Verification:
        """Builder + verifier emit exactly the target's law on a toy pair, in rationals: no sampling, no error rate."""
        found = verify(pair, builder, verifier, shape, tokens=tokens)
        witness = found.witness
        self._record(
            verdict=found.verdict,
            method=found.method,
            total_variation=str(found.total_variation),
            log10_e=None,
            witness_text=witness
            and f"after {list(witness.context)}, token {witness.token}: emitted {witness.emitted}, "
            f"target {witness.target}",
        )
        if found.verdict != "lossless":
            names = " + ".join(getattr(f, "__name__", type(f).__name__) for f in (builder, verifier))
            raise AssertionError(verify_text(found, subject=names, shape=shape or Shape()))
        return found

    def _sampled(
        self, subject: Any, eps: float | None, samples: int | None, allow_inconclusive: bool, **question: Any
    ) -> Verdict:
        for name, value in (("eps", eps), ("samples", samples)):
            if value is not None and not value > 0:
                raise InputError(f"{name} must be above 0, got {value!r}; leave it out for the default")
        eps = next(value for value in (eps, self.settings.eps, 0.02) if value is not None)
        seed = self.settings.seed(self.nodeid, len(self.records))
        verdict = audit(
            subject,
            tv=eps,
            samples=self.settings.samples if samples is None else samples,
            alpha=self.settings.alpha,
            seed=seed,
            progress=False,
            **question,
        )
        witness = verdict.witness
        self._record(
            verdict=verdict.verdict,
            method=verdict.method,
            object=verdict.object,
            tokens=verdict.tokens,
            log10_e=verdict.log10_e,
            log10_threshold=-math.log10(self.settings.alpha),
            p_value=verdict.p_value,
            samples=verdict.samples,
            total_variation_upper=verdict.total_variation_upper,
            total_variation_lower=verdict.total_variation_lower,
            confidence=verdict.confidence,
            smallest_detectable_tv=verdict.smallest_detectable_tv,
            witness_text=witness
            and f"after {list(witness.context)}, {came(witness)}: emitted "
            f"{witness.emitted:.4f}, target {witness.target:.4f}",
            diagnosis=verdict.diagnosis,
            confirmation=verdict.confirmation,
            best=_best(verdict),
        )
        if verdict.interrupted:  # Ctrl-C is for pytest too
            raise KeyboardInterrupt
        allowed = verdict.verdict == "inconclusive" and allow_inconclusive
        if verdict.verdict not in ("lossless", "no_bias_found") and not allowed:
            raise AssertionError(f"{audit_text(verdict)}\n  reproduce: {self.settings.reproduce(self.nodeid)}")
        return verdict

    def _record(self, **found: Any) -> None:
        self.records.append({"nodeid": self.nodeid, "number": len(self.records), **found})


def _best(verdict: Verdict) -> str | None:
    """The statistic that saw most, when it saw something."""
    found = {name: e for name, e in (verdict.statistics or {}).items() if e is not None and e > 1}
    if not found:
        return None
    name = max(found, key=lambda statistic: found[statistic])
    return f"best bet: {name}, E = 10^{found[name]:.1f}"

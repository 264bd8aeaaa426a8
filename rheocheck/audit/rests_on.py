"""An exact "no bias found" and the plain runs that it rests on: it never claims more than both of them establish."""

import dataclasses

from rheocheck.audit.plain_runs import PlainRuns
from rheocheck.audit.verdict import Verdict


def rests_on(verdict: Verdict, runs: PlainRuns | None, disagree: str) -> Verdict:
    """The verdict with what the runs exclude; none where they contradict the enumeration, or Ctrl-C came.

    runs      None where none were made: then nothing hidden is excluded
    disagree  the note about runs that contradict
    """
    if runs is None and verdict.interrupted:
        note = "Ctrl-C left no time for plain runs of the real code"
        verdict = dataclasses.replace(verdict, verdict="inconclusive", notes=(note, *verdict.notes))
    if runs is None:
        return dataclasses.replace(verdict, plain_runs=0, hidden_tv=1.0, hidden_event=1.0)
    notes = runs.notes
    if not runs.agrees:
        notes = (disagree, *notes)
    elif runs.interrupted:
        notes = (f"Ctrl-C ended the plain runs of the real code after {runs.runs} of {runs.planned}", *notes)
    decided = runs.agrees and not runs.interrupted
    return dataclasses.replace(
        verdict,
        verdict=verdict.verdict if decided else "inconclusive",
        confirmation=None if runs.agrees else runs.text,
        plain_runs=runs.runs,
        plain_processes=runs.processes,
        hidden_tv=runs.hidden_tv if runs.agrees else 1.0,
        hidden_event=runs.hidden_event if runs.agrees else 1.0,
        interrupted=verdict.interrupted or runs.interrupted,
        notes=(*notes, *verdict.notes),
    )

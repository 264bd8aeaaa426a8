"""Seeds of one audit: no two uses of them meet."""

import inspect

from rheocheck.audit import streams
from rheocheck.intercept.seeding import ENUMERATION, call_seed


def test_no_two_uses_share_a_stream():
    """A use has two streams: of the subject (or one door) and of the baseline (or the other door)."""
    uses = [streams.SUBJECT, streams.CONFIRMATION, streams.PILOT, streams.PLAIN, streams.FRESH, streams.DOORS]
    taken = [stream + i for stream in [*uses, streams.BATCHES] for i in range(2)]
    assert len(set(taken)) == len(taken) and max(taken) <= streams.LAST < ENUMERATION
    seeds = {call_seed(0, stream, call) for stream in taken for call in range(100)}
    assert len(seeds) == 100 * len(taken)


def test_no_two_uses_seed_the_global_generators_alike():
    purposes = [
        streams.RUN, streams.CONFIRM, streams.PILOTING, streams.CONFIRM_EXACT, streams.PLAIN_RUNS, streams.OTHER_DOOR,
        streams.LOOKING, streams.PLANNING, streams.BATCHING,
    ]  # fmt: skip
    named = [name for name, value in inspect.getmembers(streams) if name.isupper() and isinstance(value, int)]
    assert len(named) == len(purposes) + 8  # seven streams and LAST
    seeds = {streams.session_seed(0, session, what) for session in range(5) for what in purposes}
    assert len(seeds) == 5 * len(purposes)

"""Whose seeds a draw gets: each use of them within one audit has its own, so no two draws of a verdict share one.

Streams are those of `call_seed`; of a subject and a baseline the second one has the next number. A plain run of an
exact audit confirms a bias or looks behind "no bias found", never both.
"""

import numpy as np

SUBJECT, CONFIRMATION, PILOT, PLAIN, FRESH, DOORS, BATCHES = 0, 2, 4, 6, 8, 10, 12
LAST = 14  # 15 is `seeding.ENUMERATION`

# What the global generators are seeded for, where a subject takes no seed.
RUN, CONFIRM, PILOTING, CONFIRM_EXACT, PLAIN_RUNS, OTHER_DOOR, LOOKING, PLANNING, BATCHING = range(9)


def session_seed(seed: int, session: int, what: int) -> int:
    """The seed of the global generators for one of these uses, in the session of that number: all different."""
    return int(np.random.SeedSequence([seed, session, what]).generate_state(1)[0])

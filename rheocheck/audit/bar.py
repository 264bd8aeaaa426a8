"""A bar of the probability that an enumeration has covered."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction

from tqdm import tqdm

FORM = "{desc} {percentage:3.0f}% of the probability |{bar}| {postfix} [{elapsed}]"


@contextmanager
def covered_bar(show: bool | None, what: str) -> Iterator[Callable[[Fraction, int], None]]:
    """What to call with (covered, paths) after every path; show = None: a bar where stderr is a terminal."""
    disable = None if show is None else not show
    with tqdm(total=1.0, bar_format=FORM, desc=what, disable=disable, leave=False) as bar:

        def progress(covered: Fraction, paths: int) -> None:
            bar.set_postfix_str(f"{paths} paths", refresh=False)
            bar.update(float(covered) - bar.n)

        yield progress

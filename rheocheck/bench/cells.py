"""What is decoded: methods at temperatures, and how many prompts each gets.

Top-K against RheoSampling at T = 1 gets every prompt, other questions fewer. All cells begin with the same prompts,
each with the same seed, so that their differences are paired.
"""

from dataclasses import asdict, dataclass
from typing import Any

WARM = (0.25, 0.5, 0.75, 1.25, 1.5)  # beside 1
COLD = (0.0, 0.01)
LEADS = (0, 1, 2, 3, 4)
HONEST = ("recursive", "rheo")  # the verifiers that use a probe's claim


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A method at a temperature. top_k has no leads of its own: m is 0 there, and says nothing."""

    temperature: float
    builder: str
    leads: int
    verifier: str

    @property
    def name(self) -> str:
        """Such as "T=1 rheo m=1 + recursive"."""
        leads = f" m={self.leads}" if self.builder == "rheo" else ""
        return f"T={self.temperature:g} {self.builder}{leads} + {self.verifier}"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def plain(temperature: float) -> Cell:
    """Top-K with the recursive verifier, which for one-hot claims has the law of matching: the paper's baseline."""
    return Cell(temperature=temperature, builder="top_k", leads=0, verifier="recursive")


def probed(temperature: float, leads: int = 1, verifier: str = "rheo") -> Cell:
    """RheoSampling."""
    return Cell(temperature=temperature, builder="rheo", leads=leads, verifier=verifier)


def shares() -> dict[Cell, float]:
    """Every cell, and the share of the prompts that it is decoded on."""
    cells = {plain(1.0): 1.0} | {probed(1.0, 1, verifier): 1.0 for verifier in HONEST}
    cells |= {probed(1.0, m, verifier): 0.5 for m in LEADS if m != 1 for verifier in HONEST}
    for T in WARM:
        cells |= {plain(T): 0.5} | {probed(T, 1, verifier): 0.5 for verifier in HONEST}
    for T in COLD:
        cells |= {plain(T): 0.125} | {probed(T, m): 0.125 for m in (0, 1)}
    return cells

"""RheoSampling on JAX arrays: the specification once more, dense and pure, in the order of the paper.

    slots      what one node proposes: top_k, rheo, naive
    ranking    the layers, the strict order, the N best
    verifiers  matching, recursive, rheo at one node
    cycle      a tree, then the walk through it; `cycles` is its jit + vmap
    subject    the same as a subject of an audit

An independent second implementation, not an engine: arrays of laws in, the noise contract of
`rheocheck.formats.noise` beside them, float64 where x64 is on. Needs the extra `jax`.
"""

from rheocheck.core.errors import MissingExtra

try:
    import jax  # noqa: F401
    import jaxtyping  # noqa: F401
except ImportError as error:
    raise MissingExtra(
        f"rheocheck.reference must have jax and jaxtyping, {error.name} is missing: pip install 'rheocheck[jax]'"
    ) from error

from rheocheck.reference.cycle import PairArrays, cycle, cycles
from rheocheck.reference.ranking import ArrayTree, grow
from rheocheck.reference.slots import BUILDERS, naive, rheo, top_k
from rheocheck.reference.subject import ReferenceSubject, subject, tables_of
from rheocheck.reference.verifiers import VERIFIERS, matching, recursive
from rheocheck.reference.verifiers import rheo as rheo_verifier

__all__ = [
    "ArrayTree",
    "BUILDERS",
    "PairArrays",
    "ReferenceSubject",
    "VERIFIERS",
    "cycle",
    "cycles",
    "grow",
    "matching",
    "naive",
    "recursive",
    "rheo",
    "rheo_verifier",
    "subject",
    "tables_of",
    "top_k",
]

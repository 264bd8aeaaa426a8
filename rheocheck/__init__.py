"""rheocheck: does a speculative decoder still emit exactly the target model's distribution?

    from rheocheck import Shape, load_pair, verify
    verify(load_pair("toy_models.survival_bias:pair"), shape=Shape(leads=1)).verdict    # "lossless"

Names are loaded when they are first used: importing the package imports nothing beyond the standard library.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rheocheck.core import (
        Decoder,
        InputError,
        MissingExtra,
        Node,
        Pair,
        RheocheckError,
        Shape,
        Slot,
        Tree,
        normalise,
    )
    from rheocheck.exact import Budget, Verification, Witness, certify, relabel, verify
    from rheocheck.formats import load_pair

_HOMES = {
    "rheocheck.core": ("Decoder", "InputError", "MissingExtra", "Node", "Pair", "RheocheckError", "Shape", "Slot",
                       "Tree", "normalise"),
    "rheocheck.formats": ("load_pair",),
    "rheocheck.exact": ("Budget", "Verification", "Witness", "certify", "relabel", "verify"),
}  # fmt: skip
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Budget",
    "Decoder",
    "InputError",
    "MissingExtra",
    "Node",
    "Pair",
    "RheocheckError",
    "Shape",
    "Slot",
    "Tree",
    "Verification",
    "Witness",
    "certify",
    "load_pair",
    "normalise",
    "relabel",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'rheocheck' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]

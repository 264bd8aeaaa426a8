"""The exceptions rheocheck raises on purpose.

    RheocheckError
    |-- InputError           what the user gave does not hold what it must; the command line exits with 2
    |   `-- NotUnderstood    a decoder uses randomness in a way that an exact audit cannot follow
    `-- MissingExtra         an optional dependency is not installed; says which extra to install

Every message has three parts: what must hold, what came, what to try.
"""


class RheocheckError(Exception):
    """Base of all errors that rheocheck raises on purpose."""


class InputError(RheocheckError, ValueError):
    """A pair, shape, builder, verifier, subject or file does not hold what it must."""


class NotUnderstood(InputError):
    """An exact audit cannot follow what a decoder does with its randomness; sampling still can audit it."""


class MissingExtra(RheocheckError, ImportError):
    """A feature needs an optional dependency that is not installed."""

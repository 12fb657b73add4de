"""What a failed check raises, with a message that says what was expected."""

from __future__ import annotations


class Failed(AssertionError):
    """A component does not keep what its protocol promises."""


def expect(holds: object, promise: str, instead: object = None) -> None:
    """Raise `Failed` unless a promise holds.

    Args:
        holds: whether it does.
        promise: what was promised, as a sentence.
        instead: what was found instead.
    """
    if not holds:
        raise Failed(promise if instead is None else f"{promise}; found {instead!r}")

"""Passwords as they are kept: hashed with Argon2id, which makes each guess cost memory and time."""

from __future__ import annotations

import os
import unicodedata
from functools import cache

from cryptography.exceptions import InvalidKey
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from ragstone.core.errors import UsageError

SHORTEST, LONGEST = 10, 1_000
"""Characters of a password."""
MEMORY_KIB, PASSES, LANES = 19_456, 2, 1
"""OWASP's parameters: about a tenth of a second and 19 MiB for each guess."""
SALT_BYTES, HASH_BYTES = 16, 32


def check_strength(password: str, name: str) -> None:
    """Check that a new password is not too easy to guess. Length counts; rules about kinds of characters do not help.

    Raises:
        UsageError: it is too short or too long, or contains the user's name.
    """
    if not SHORTEST <= len(password) <= LONGEST:
        raise UsageError(f"a password needs {SHORTEST} to {LONGEST:,} characters")
    if name.casefold() in password.casefold() or len(set(password)) < 4:
        raise UsageError("this password is easy to guess; choose one without the name and with more characters")


def hashed(password: str) -> str:
    """Return what is stored in place of a password: parameters, salt and hash in the PHC string format."""
    kdf = Argon2id(
        salt=os.urandom(SALT_BYTES), length=HASH_BYTES, iterations=PASSES, lanes=LANES, memory_cost=MEMORY_KIB
    )
    return kdf.derive_phc_encoded(_bytes(password))


def fits(password: str, stored: str | None) -> bool:
    """Return whether a password is the stored one. Without a stored one it takes as long, and is false."""
    try:
        Argon2id.verify_phc_encoded(_bytes(password[: LONGEST + 1]), stored or _nobodys())
    except (InvalidKey, ValueError):
        return False
    return stored is not None


@cache
def _nobodys() -> str:
    return hashed(os.urandom(SALT_BYTES).hex())


def _bytes(password: str) -> bytes:
    """Return the same bytes for the same characters, whichever way a keyboard composes them."""
    return unicodedata.normalize("NFC", password).encode("utf-8", "replace")

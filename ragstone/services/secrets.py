"""Keys in texts that are shown: what a server says may repeat the key that it was sent."""

from __future__ import annotations

LEAST = 8
"""Characters of a key that is hidden. A shorter one is part of ordinary words, and no real key."""


def without_secret(text: str, secret: str) -> str:
    """Return a text in which a key is hidden."""
    return text.replace(secret, "***") if len(secret) >= LEAST else text

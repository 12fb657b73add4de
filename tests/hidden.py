"""Packages that are hidden, as if they were not installed."""

from __future__ import annotations

import sys

import pytest

USERS = {
    "openai": (
        "ragstone.services.openai_api",
        "ragstone.services.chat_openai",
        "ragstone.services.chat_gguf",
        "ragstone.index.embed.openai_embedder",
    ),
}
"""The modules that import a package, which must be imported anew."""


def hide(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    """Hide a package until the test ends."""
    for module in USERS.get(package, ()):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, package, None)

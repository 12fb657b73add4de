"""Parse YAML with the C library if it is there. Without it, the word lists of all languages take 0.3 s to load."""

from __future__ import annotations

from typing import Any

import yaml

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BOOL = "tag:yaml.org,2002:bool"


_RESOLVERS = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != _BOOL]
    for first, resolvers in _LOADER.yaml_implicit_resolvers.items()
}
_WORD_LOADER: Any = type("WordLoader", (_LOADER,), {"yaml_implicit_resolvers": _RESOLVERS})
"""A loader without truth values, because "on", "no" and "yes" are words of languages."""


def read_yaml(text: str) -> Any:
    """Return the plain values in a YAML text. Tags that create objects are refused.

    Raises:
        yaml.YAMLError: the text is not YAML.
    """
    return yaml.load(text, Loader=_LOADER)


def read_words(text: str) -> Any:
    """Return the values in a YAML text of words: "on" and "no" are words there, and never true or false.

    Raises:
        yaml.YAMLError: the text is not YAML.
    """
    return yaml.load(text, Loader=_WORD_LOADER)

"""Parse YAML with the C library if it is there. Without it, the word lists of all languages take 0.3 s to load."""

from __future__ import annotations

from typing import Any

import yaml

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(text: str) -> Any:
    """Return the plain values in a YAML text. Tags that create objects are refused.

    Raises:
        yaml.YAMLError: the text is not YAML.
    """
    return yaml.load(text, Loader=_LOADER)

"""Settings written down as a preset: YAML that ``--preset`` takes."""

from __future__ import annotations

import json
import re
from typing import Any

import yaml
from pydantic import BaseModel, SecretStr

from ragstone.config import Tree, leaves, merge, nested
from ragstone.sections import Settings

LEFT_OUT = ("preset", "review.mlflow")
"""Settings that say where others are, and are no part of a way to answer."""


def as_preset(settings: Settings) -> str:
    """All that differs from the defaults. Keys are left out: they belong into the environment."""
    usual = {path: value for path, _, value in leaves(Settings())}
    tree: Tree = {}
    for path, _, value in leaves(settings):
        if path not in LEFT_OUT and not isinstance(value, SecretStr) and usual.get(path, _NOTHING) != value:
            tree = merge(tree, nested(path, _plain(value)))
    readable = not _UNREADABLE.search(json.dumps(tree, ensure_ascii=False))
    return yaml.safe_dump(tree, sort_keys=False, allow_unicode=readable) if tree else "{}\n"


_NOTHING = object()
_UNREADABLE = re.compile("[\x80-\x9f\u2028\u2029\ufeff]")
"""Characters that YAML takes for the end of a line or for nothing, unless they are written as numbers."""


def _plain(value: Any) -> Any:
    """A value as YAML has it: lists for tuples, and no records."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, dict):
        return {name: _plain(inside) for name, inside in value.items()}
    return [_plain(inside) for inside in value] if isinstance(value, tuple) else value

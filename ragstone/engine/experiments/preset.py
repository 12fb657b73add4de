"""Writes settings as a preset: YAML for ``--preset``."""

from __future__ import annotations

import json
import re
from typing import Any, cast

import yaml
from pydantic import BaseModel, SecretStr

from ragstone.settings import Settings
from ragstone.settings.load import Tree, leaves, merge, nested

LEFT_OUT = ("preset", "profile", "review.mlflow")
"""Settings that do not affect answers, or whose effect is written out."""


def as_preset(settings: Settings) -> str:
    """Return the settings that differ from their defaults as YAML, without secrets."""
    defaults = {path: value for path, _, value in leaves(Settings())}
    tree: Tree = {}
    for path, _, value in leaves(settings):
        if path not in LEFT_OUT and not isinstance(value, SecretStr) and defaults.get(path, _NO_DEFAULT) != value:
            tree = merge(tree, nested(path, _plain(value)))
    readable = not _UNREADABLE.search(json.dumps(tree, ensure_ascii=False))
    return yaml.safe_dump(tree, sort_keys=False, allow_unicode=readable) if tree else "{}\n"


_NO_DEFAULT = object()
_UNREADABLE = re.compile("[\x80-\x9f\u2028\u2029\ufeff]")
"""Characters that YAML reads as line breaks or drops, unless they are escaped."""


def _plain(value: Any) -> Any:
    """Return a value as plain YAML types: lists for tuples, mappings for records."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return {name: _plain(inside) for name, inside in members.items()}
    return [_plain(inside) for inside in cast("tuple[Any, ...]", value)] if isinstance(value, tuple) else value

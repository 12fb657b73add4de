"""The models that are known to suit: a family's larger one, and the smaller one to develop and test with."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Literal

from pydantic import BaseModel, TypeAdapter

from ragstone.yaml_text import read_yaml

Use = Literal["production", "development"]


class Pair(BaseModel):
    """Names of two models on the Hugging Face hub."""

    production: str
    development: str


@cache
def pairs() -> dict[str, Pair]:
    """The pairs by the names of their families."""
    text = (files("ragstone.respond") / "pairs.yaml").read_text(encoding="utf-8")
    return TypeAdapter(dict[str, Pair]).validate_python(read_yaml(text))


def resolved(name: str) -> str:
    """What ``FAMILY`` or ``FAMILY:development`` stands for; any other name stands for itself."""
    family, _, use = name.partition(":")
    pair = pairs().get(family)
    if pair is None:
        return name
    return pair.development if use == "development" else pair.production

"""Recommended models: for each family a larger one for production and a smaller one for development."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from pydantic import BaseModel, TypeAdapter

from ragstone.settings.yaml_text import read_yaml


class ModelFamily(BaseModel):
    """The names of two models on the Hugging Face hub."""

    production: str
    development: str


@cache
def model_families() -> dict[str, ModelFamily]:
    """Return the families by name."""
    text = (files("ragstone.services") / "model_families.yaml").read_text(encoding="utf-8")
    return TypeAdapter(dict[str, ModelFamily]).validate_python(read_yaml(text))


def resolve_name(name: str) -> str:
    """Return the model that ``FAMILY`` or ``FAMILY:development`` stands for; any other name is returned unchanged."""
    family, _, use = name.partition(":")
    models = model_families().get(family)
    if models is None:
        return name
    return models.development if use == "development" else models.production

"""Settings: command line > environment > ``.env`` > YAML preset > defaults.

One sub-model per stage; each stage receives only its own. An unknown key is an error at every
level. In the environment a setting is ``RAGSTONE_`` and its path with two underscores between the
parts: ``RAGSTONE_CHUNK__SIZE=600``. The names people already use elsewhere work too (`ALIASES`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args, get_origin

import yaml
from pydantic import BaseModel, SecretStr, ValidationError
from pydantic.fields import FieldInfo

from ragstone import dotenv
from ragstone.errors import SettingsError
from ragstone.sections import Settings
from ragstone.substitutes import Substitute, substitutes
from ragstone.yaml_text import read_yaml

Tree = dict[str, Any]
"""Settings as YAML has them: sections of sections of values."""

PREFIX = "RAGSTONE_"
OUTSIDE = {"RAGSTONE_TEST_DATA"}
"""Names with our prefix that are no settings."""
ALIASES = {
    "CHUNK_SIZE": "chunk.size",
    "CHUNK_OVERLAP": "chunk.overlap",
    "EMBEDDING_MODEL": "index.embedder",
    "TOP_K": "rank.top_k",
    "RERANK_TOP_K": "rank.pool",
    "MAX_CONTEXT_TOKENS": "respond.context_tokens",
    "LLM_MODEL": "respond.model.name",
    "TEMPERATURE": "respond.model.temperature",
    "OPENAI_API_KEY": "services.openai.api_key",
    "OPENAI_BASE_URL": "services.openai.base_url",
    "AZURE_OPENAI_ENDPOINT": "services.azure.endpoint",
    "AZURE_OPENAI_API_KEY": "services.azure.api_key",
    "AZURE_OPENAI_DEPLOYMENT": "services.azure.deployment",
    "AZURE_EMBEDDING_DEPLOYMENT": "index.embedder",
    "EXA_API_KEY": "services.exa.api_key",
    "DATABASE_URL": "services.postgres.dsn",
}
"""Names of the environment that other systems use, and the settings they stand for. Of two for one the later wins."""
KINDS = {"AZURE_EMBEDDING_DEPLOYMENT": "azure:"}
"""What is put before the value of such a name, to say what it is a name of."""


class Loaded:
    """Settings; what of them was asked for explicitly (command line, environment, ``.env``); what stands in for
    engines and services of a preset."""

    __slots__ = ("explicit", "settings", "substitutes")

    def __init__(self, settings: Settings, explicit: Tree, substitutes: tuple[Substitute, ...] = ()) -> None:
        self.settings = settings
        self.explicit = explicit
        self.substitutes = substitutes


def load(
    overrides: Sequence[str] = (),
    *,
    preset: str | None = None,
    remembered: Tree | None = None,
    folder: Path | None = None,
) -> Loaded:
    """Settings from every source, in order of precedence.

    Args:
        overrides: ``path=value`` pairs of the command line; a list is written as YAML or JSON.
        preset: as given on the command line.
        remembered: what the knowledge base was built with; stands above the preset.
        folder: where ``.env`` is looked for; the current folder if not given.

    Raises:
        SettingsError: an unknown key, a malformed value, an unknown preset.
    """
    explicit: Tree = {}
    for layer in (_read_dotenv((folder or Path()) / ".env"), _named(os.environ, "the environment")):
        explicit = merge(explicit, layer)
    explicit = merge(explicit, parse_overrides(overrides))
    if preset is not None:
        explicit["preset"] = preset
    chosen = explicit.get("preset") or (remembered or {}).get("preset") or "default"
    try:
        preset_tree = read_preset(str(chosen))
    except SettingsError as error:
        if explicit.get("preset"):
            raise
        raise SettingsError(
            f"{error}; the knowledge base was made with it: put it back, or name another (--preset, RAGSTONE_PRESET)"
        ) from error
    tree = merge(merge(preset_tree, remembered or {}), explicit)
    settings = validated(tree)
    if chosen not in preset_names():  # a file of one's own means what it says
        return Loaded(settings, explicit)
    stand_ins = substitutes(settings, explicit)
    for one in stand_ins:
        settings = changed(settings, nested(one.path, one.instead))
    return Loaded(settings, explicit, stand_ins)


def merge(under: Tree, over: Tree) -> Tree:
    """Two trees of settings as one; where both have a leaf, ``over`` wins."""
    out = dict(under)
    for key, value in over.items():
        below = out.get(key)
        out[key] = merge(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return out


def parse_overrides(pairs: Sequence[str]) -> Tree:
    """``["chunk.size=600"]`` as ``{"chunk": {"size": 600}}``, the number still as text; `load` converts it."""
    tree: Tree = {}
    for pair in pairs:
        path, equals, text = pair.partition("=")
        path = path.strip()
        if not equals or not path:
            shown = "what was given" if "key" in pair else f"'{pair}'"  # a key that was typed wrongly is one still
            raise SettingsError(f"{shown} is not a setting; write it as path=value, such as chunk.size=600")
        branch = nested(path, _value(path, text, path))
        _refuse_unknown(branch, "on the command line")
        tree = merge(tree, branch)
    return tree


def preset_names() -> list[str]:
    """Names of the presets that come with Ragstone."""
    names = (file.name for file in files("ragstone.presets").iterdir())
    return sorted(name.removesuffix(".yaml") for name in names if name.endswith(".yaml"))


def read_preset(name: str) -> Tree:
    """The settings a preset makes; ``default`` makes none."""
    if name == "default":
        return {}
    path = files("ragstone.presets") / f"{name}.yaml" if name in preset_names() else Path(name)
    if not path.is_file():
        known = ", ".join(["default", *preset_names()])
        raise SettingsError(f"no preset '{name}'; there are {known}, or give the path of a YAML file")
    try:
        tree = read_yaml(path.read_text(encoding="utf-8")) or {}
    except (yaml.YAMLError, ValueError, OSError) as error:
        raise SettingsError(f"preset {name} could not be read as YAML: {error}") from error
    if not isinstance(tree, dict):
        raise SettingsError(f"preset {name} must be a mapping of sections, such as 'chunk: {{size: 600}}'")
    if "preset" in tree:
        raise SettingsError(f"preset {name} names a preset itself; put the settings of both into one file")
    _refuse_unknown(tree, f"in preset {name}")
    return tree


def lasting_preset(name: str) -> str:
    """A preset as it is known from every folder: the path of a file is made absolute."""
    return name if name in ("default", *preset_names()) else str(Path(name).resolve())


def changed(settings: Settings, tree: Tree) -> Settings:
    """The same settings but for those in a tree.

    Raises:
        SettingsError: an unknown key, or a value that does not fit.
    """
    _refuse_unknown(tree, "among the changes")
    return validated(_over(settings, tree))


def _over(section: BaseModel, tree: Tree) -> Tree:
    """A section's values, those of a tree over them; what is not changed stays the record it is."""
    values = {name: getattr(section, name) for name in type(section).model_fields}
    for name, value in tree.items():
        below = values[name]
        values[name] = _over(below, value) if isinstance(below, BaseModel) and isinstance(value, dict) else value
    return values


def nested(path: str, value: Any) -> Tree:
    """A setting as a tree: ``chunk.size`` and 600 as ``{"chunk": {"size": 600}}``."""
    for part in reversed(path.split(".")):
        value = {part: value}
    return value


def leaves(model: BaseModel, path: str = "") -> Iterator[tuple[str, FieldInfo, Any]]:
    """Every setting under a model: its dotted path, its field and its value.

    Of sections that have names of the user's own, only what was set: the rest is decided elsewhere.
    """
    for name, info in type(model).model_fields.items():
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            yield from leaves(value, f"{path}{name}.")
        elif isinstance(value, dict) and any(isinstance(section, BaseModel) for section in value.values()):
            for key, section in value.items():
                inside = leaves(section, f"{path}{name}.{key}.")
                yield from (leaf for leaf in inside if leaf[0].rpartition(".")[2] in section.model_fields_set)
        else:
            yield f"{path}{name}", info, value


def written(value: Any) -> str:
    """A setting's value as it is written on the command line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name}: {written(inside)}' for name, inside in value.items())}}}"
    return f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else str(value)


def environment_name(path: str) -> str:
    """``chunk.size`` as the environment has it: ``RAGSTONE_CHUNK__SIZE``."""
    return PREFIX + path.upper().replace(".", "__")


def _value(path: str, text: str, where: str) -> Any:
    """A setting's value from its text. Only lists and mappings are read as YAML, which JSON is a part of.

    All else stays text, which the model converts: YAML would read ``no`` as false and ``010`` as eight.
    """
    if _annotation(path) in (str, SecretStr) or not text.lstrip().startswith(("[", "{")):
        return text
    try:
        return read_yaml(text)
    except (yaml.YAMLError, ValueError) as error:
        raise SettingsError(f"{where}: not a list or mapping in YAML or JSON: {text}") from error


def _read_dotenv(path: Path) -> Tree:
    try:
        return _named(dotenv.read(path), str(path)) if path.is_file() else {}
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} could not be read: {error}") from error


def _named(variables: Mapping[str, str | None], where: str) -> Tree:
    """The settings among environment variables. Ours stand above aliases; an empty variable counts as not set."""
    tree: Tree = {}
    for name, path in ALIASES.items():
        if text := variables.get(name):
            tree = merge(tree, nested(path, KINDS.get(name, "") + text))
    # Sorted, so that RAGSTONE_CHUNK__SIZE comes after RAGSTONE_CHUNK and wins.
    for name in sorted(variables):
        text = variables[name]
        if name.upper().startswith(PREFIX) and name not in OUTSIDE and text:
            path = name[len(PREFIX) :].lower().replace("__", ".")
            branch = nested(path, _value(path, text, f"{name} in {where}"))
            _refuse_unknown(branch, f"from {name} in {where}")
            tree = merge(tree, branch)
    return tree


def _refuse_unknown(tree: Tree, where: str, model: type[BaseModel] = Settings, path: str = "") -> None:
    """Name the source of an unknown key, which is lost once the sources are merged."""
    for name, value in tree.items():
        if name not in model.model_fields:
            near = _did_you_mean(f"{path}{name}")
            raise SettingsError(f"there is no setting '{path}{name}' ({where}){near}; all settings: ragstone settings")
        for inside, section, below in _sections(model.model_fields[name].annotation, f"{path}{name}", value):
            _refuse_unknown(inside, where, section, below)


def _sections(kind: Any, path: str, value: Any) -> Iterator[tuple[Tree, type[BaseModel], str]]:
    """The sections that a field holds: itself, or each of those the user named."""
    if isinstance(value, dict) and get_origin(kind) is dict:
        for key, inside in value.items():
            yield from _sections(get_args(kind)[1], f"{path}.{key}", inside)
    elif isinstance(value, dict) and isinstance(kind, type) and issubclass(kind, BaseModel):
        yield value, kind, f"{path}."


def _annotation(path: str) -> Any:
    """What a setting is declared as; nothing where there is no such setting."""
    kind: Any = Settings
    for name in path.split("."):
        if get_origin(kind) is dict:
            kind = get_args(kind)[1]
        elif isinstance(kind, type) and issubclass(kind, BaseModel) and name in kind.model_fields:
            kind = kind.model_fields[name].annotation
        else:
            return None
    return kind


_NUMBER = "constrained-float"
"""What pydantic calls a number within bounds, where a word may stand in its place."""


def validated(tree: Tree) -> Settings:
    """The settings that a tree makes.

    Raises:
        SettingsError: an unknown key, a malformed value.
    """
    try:
        return Settings.model_validate(tree)
    except ValidationError as error:
        problems = error.errors()
        numbers = [problem for problem in problems if _NUMBER in problem["loc"]]  # a word would have done as well
        told = [one for one in problems if not any(one["loc"][:-1] == number["loc"][:-1] for number in numbers)]
        raise SettingsError("; ".join(_in_words(problem) for problem in told + numbers)) from error


def _in_words(problem: Any) -> str:
    path = ".".join(str(part) for part in problem["loc"] if part != _NUMBER)
    if problem["type"] == "extra_forbidden":
        return f"there is no setting '{path}'{_did_you_mean(path)}; all settings: ragstone settings"
    if problem["type"] == "model_type":
        return f"{path} is a section of settings, not a setting; all settings: ragstone settings"
    if problem["type"] == "tuple_type":
        return f"{path} is a list; write it as [one, two]"
    return f"{path}: {problem['msg'].removeprefix('Value error, ')}"


def _did_you_mean(path: str) -> str:
    known = [path for path, _, _ in leaves(Settings())]
    sections = sorted({path.rpartition(".")[0] for path in known} - {""})
    near = get_close_matches(path, known + sections, n=1)
    return f"; did you mean {near[0]}?" if near else ""

"""Read the settings: command line > environment > ``.env`` > profile > knowledge base > YAML preset > defaults.

In the environment, the name of a setting is ``RAGSTONE_`` and its path, with two underscores for each dot:
``RAGSTONE_CHUNK__SIZE=600``. `ALIASES` lists names of other programs that work as well. An unknown key is an error
in every source, at every level; the message names the source and the nearest key.

python-dotenv parses ``.env``. pydantic-settings (2.16) was tried for the rest and does not fit. It ignores an unknown
``RAGSTONE_FOO``, refuses foreign names in ``.env``, accepts lists only as JSON, and does not tell which source an
error came from. Each source would need a class of ours, and its import takes 0.16 s, twice as long as pydantic's.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib.resources import files
from itertools import takewhile
from pathlib import Path
from typing import Any, cast, get_args, get_origin

from pydantic import BaseModel, SecretStr, ValidationError
from pydantic.fields import FieldInfo

from ragstone.core.errors import SettingsError
from ragstone.core.frozen import frozen
from ragstone.settings import Settings
from ragstone.settings.model_servers import KNOWN_SERVERS
from ragstone.settings.moving import translated
from ragstone.settings.substitutes import Substitute, needs_of, substitutes
from ragstone.settings.yaml_text import read_yaml

Tree = dict[str, Any]
"""Settings as nested sections, as in YAML."""

PREFIX = "RAGSTONE_"
OUTSIDE = {"RAGSTONE_TEST_DATA"}
"""Variables with our prefix that are not settings."""
ALIASES = {
    "CHUNK_SIZE": "chunk.size",
    "CHUNK_OVERLAP": "chunk.overlap",
    "EMBEDDING_MODEL": "index.embedder",
    "TOP_K": "rank.top_k",
    "RERANK_TOP_K": "rank.pool",
    "MAX_CONTEXT_TOKENS": "respond.context_tokens",
    "AZURE_OPENAI_DEPLOYMENT": "respond.model.name",
    "LLM_MODEL": "respond.model.name",
    "TEMPERATURE": "respond.model.temperature",
    "TOP_P": "respond.model.top_p",
    "RERANKER_MODEL": "rank.reranker",
    "OPENAI_API_KEY": "services.openai.api_key",
    "OPENAI_BASE_URL": "services.openai.base_url",
    "AZURE_OPENAI_ENDPOINT": "services.azure.endpoint",
    "AZURE_OPENAI_API_KEY": "services.azure.api_key",
    "AZURE_EMBEDDING_DEPLOYMENT": "index.embedder",
    **{one.variable: f"services.servers.{name}.api_key" for name, one in KNOWN_SERVERS.items() if one.variable},
    "EXA_API_KEY": "services.exa.api_key",
    "DATABASE_URL": "services.postgres.dsn",
}
"""Variables of other programs, and the settings they stand for. If two stand for the same setting, the later wins."""
KINDS = {"AZURE_EMBEDDING_DEPLOYMENT": "azure:", "AZURE_OPENAI_DEPLOYMENT": "azure:"}
"""Prefixes for the values of such variables."""
DEPLOYMENTS = {"LLM_MODEL": "AZURE_OPENAI_DEPLOYMENT", "EMBEDDING_MODEL": "AZURE_EMBEDDING_DEPLOYMENT"}
"""Variables that name a model, and those that name its deployment. If both are set, the deployment is called."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings, those that the user set, and substitutes for a preset.

    The user sets them on the command line, in the environment, in ``.env``, or by naming a profile.
    """

    settings: Settings
    explicit: Tree = field(repr=False)  # it holds keys as plain text
    substitutes: tuple[Substitute, ...] = ()


def load(
    overrides: Sequence[str] = (),
    *,
    preset: str | None = None,
    remembered: Tree | None = None,
    folder: Path | None = None,
    with_profile: bool = True,
) -> Loaded:
    """Read the settings from all sources.

    Args:
        overrides: pairs ``path=value`` from the command line; a list is written as YAML or JSON.
        preset: the preset named on the command line.
        remembered: what the knowledge base was built with. It takes precedence over the preset.
        folder: the folder of ``.env``; the current folder by default.
        with_profile: apply the profile that the user named. It is false while the preset is not known yet.

    Raises:
        SettingsError: a key, preset or profile is unknown, or a value is malformed.
    """
    file = (folder or Path()) / ".env"
    in_file, in_process = _read_dotenv(file), dict(os.environ)
    models = _models_of_deployments(_filled(in_file) | _filled(in_process))
    explicit: Tree = {"services": {"azure": {"models": models}}} if models else {}
    for variables, where in ((in_file, str(file)), (in_process, "the environment")):
        explicit = merge(explicit, _from_variables(variables, where, models.values()))
    explicit = merge(explicit, parse_overrides(overrides))
    if preset is not None:
        explicit["preset"] = preset
    built = remembered or {}
    chosen = str(explicit.get("preset") or built.get("preset") or "default")
    try:
        preset_tree = read_preset(chosen)
    except SettingsError as error:
        if explicit.get("preset"):
            raise
        raise SettingsError(
            f"{error}; the knowledge base was created with this preset: restore it, or choose another with --preset"
            " or RAGSTONE_PRESET"
        ) from error
    fixed = merge(built, explicit)
    settings = validated(merge(preset_tree, fixed))
    if with_profile and settings.profile:
        explicit = merge(profile_of(settings, settings.profile), explicit)
        fixed = merge(built, explicit)
        settings = validated(merge(preset_tree, fixed))
    if chosen not in preset_names():  # the user's own file gets no substitutes
        return Loaded(settings, explicit)
    found = substitutes(settings, fixed)
    for one in found:
        settings = changed(settings, nested(one.path, one.instead))
    return Loaded(settings, explicit, found)


def merge(under: Tree, over: Tree) -> Tree:
    """Return two trees as one; ``over`` wins for a setting that both have."""
    out = dict(under)
    for key, value in over.items():
        below = out.get(key)
        out[key] = merge(_tree(below), _tree(value)) if isinstance(below, dict) and isinstance(value, dict) else value
    return out


def parse_overrides(pairs: Sequence[str]) -> Tree:
    """Return ``["chunk.size=600"]`` as ``{"chunk": {"size": "600"}}``.

    Raises:
        SettingsError: a pair is malformed, or its key is unknown.
    """
    tree: Tree = {}
    for pair in pairs:
        path, equals, text = pair.partition("=")
        path = path.strip()
        if not equals or not path:
            shown = "the argument" if "key" in pair else f"'{pair}'"  # it may be a mistyped API key
            raise SettingsError(f"{shown} is not a setting; write it as path=value, such as chunk.size=600")
        branch = nested(path, _value(path, text, path))
        _refuse_unknown(branch)
        tree = merge(tree, branch)
    return tree


def preset_names() -> list[str]:
    """Return the names of the built-in presets."""
    names = (file.name for file in files("ragstone.settings.presets").iterdir())
    return sorted(name.removesuffix(".yaml") for name in names if name.endswith(".yaml"))


def read_preset(name: str) -> Tree:
    """Return the settings of a preset; ``default`` has none.

    Raises:
        SettingsError: the preset does not exist, is malformed, or has an unknown key.
    """
    if name == "default":
        return {}
    path = files("ragstone.settings.presets") / f"{name}.yaml" if name in preset_names() else Path(name)
    if not path.is_file():
        what = f"the file {name} does not exist" if name.endswith((".yaml", ".yml")) else f"there is no preset '{name}'"
        known = ", ".join(["default", *preset_names()])
        raise SettingsError(f"{what}; choose one of {known}, or the path of a YAML file")
    try:
        content: object = read_yaml(path.read_text(encoding="utf-8")) or {}
    except (ValueError, OSError) as error:
        raise SettingsError(f"preset {name} could not be read as YAML: {error}") from error
    if not isinstance(content, dict):
        raise SettingsError(f"preset {name} must be a mapping of sections, such as 'chunk: {{size: 600}}'")
    tree = _tree(content)
    if "preset" in tree:
        raise SettingsError(f"preset {name} names another preset; put the settings of both into one file")
    try:
        _refuse_unknown(tree, f"in preset {name}")
    except SettingsError as error:
        foreign = tree.keys() - Settings.model_fields.keys()
        if len(foreign) < 2 or not (moved := translated(tree)):
            raise
        raise SettingsError(
            f"{name} has settings of another system, which Ragstone cannot take over as they are. Write {moved}."
            " 'ragstone presets' and docs/moving.md say what differs"
        ) from error
    return tree


@frozen
class Preset:
    """A built-in preset.

    Args:
        name: of the preset.
        what: it is for.
        needs: what its parts need that are not in this package, by the name of the part.
        replaced: parts that are not available here.
    """

    name: str
    what: str
    needs: Mapping[str, str]
    replaced: tuple[Substitute, ...]


def describe_preset(name: str) -> Preset:
    """Return what a built-in preset is for, from the comment at the head of its file, and what it needs.

    Raises:
        SettingsError: there is no such preset.
    """
    settings = validated(read_preset(name))
    if name not in preset_names():
        raise SettingsError(f"'{name}' is no built-in preset; choose one of {', '.join(preset_names())}")
    text = (files("ragstone.settings.presets") / f"{name}.yaml").read_text(encoding="utf-8")
    head = takewhile(lambda line: line.startswith("#"), text.splitlines())
    what = "\n".join(line.removeprefix("#").removeprefix(" ") for line in head)
    return Preset(name=name, what=what, needs=dict(needs_of(settings)), replaced=load(preset=name).substitutes)


def profile_of(settings: Settings, name: str) -> Tree:
    """Return the settings of a profile.

    Raises:
        SettingsError: there is no such profile, or it has an unknown key.
    """
    if name not in settings.profiles:
        known = f"; choose one of {', '.join(sorted(settings.profiles))}" if settings.profiles else ""
        raise SettingsError(f"the preset {settings.preset} has no profile '{name}'{known}")
    tree = settings.profiles[name]
    if own := tree.keys() & {"preset", "profile", "profiles"}:
        raise SettingsError(f"profile {name} of the preset {settings.preset} must not set {', '.join(sorted(own))}")
    _refuse_unknown(tree, f"in profile {name} of the preset {settings.preset}")
    return tree


def lasting_preset(name: str) -> str:
    """Return a preset under a name that works from every folder: the path of a file becomes absolute."""
    return name if name in ("default", *preset_names()) else str(Path(name).resolve())


def changed(settings: Settings, tree: Tree) -> Settings:
    """Return the settings with the changes of a tree.

    Raises:
        SettingsError: a key is unknown, or a value does not fit.
    """
    _refuse_unknown(tree, "among the changes")
    return validated(_over(settings, tree))


def _over(section: BaseModel, tree: Tree) -> Tree:
    """Return the values of a section with those of a tree; an unchanged section stays the same object."""
    values = {name: getattr(section, name) for name in type(section).model_fields}
    for name, value in tree.items():
        below = values[name]
        values[name] = _over(below, _tree(value)) if isinstance(below, BaseModel) and isinstance(value, dict) else value
    return values


def nested(path: str, value: Any) -> Tree:
    """Return a setting as a tree: ``chunk.size`` and 600 become ``{"chunk": {"size": 600}}``."""
    first, *rest = reversed(path.split("."))
    tree: Tree = {first: value}
    for part in rest:
        tree = {part: tree}
    return tree


def leaves(model: BaseModel, path: str = "") -> Iterator[tuple[str, FieldInfo, Any]]:
    """Yield the dotted path, the field and the value of every setting of a model.

    A section that the user named yields only what the user set, because the rest is inherited.
    """
    for name, info in type(model).model_fields.items():
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            yield from leaves(value, f"{path}{name}.")
        elif isinstance(value, dict) and (sections := _named_sections(_tree(value))):
            for key, section in sections.items():
                prefix = f"{path}{name}.{key}."
                for leaf in leaves(section, prefix):
                    if leaf[0].removeprefix(prefix).partition(".")[0] in section.model_fields_set:
                        yield leaf
        else:
            yield f"{path}{name}", info, value


def _named_sections(values: Tree) -> dict[str, BaseModel]:
    return {key: value for key, value in values.items() if isinstance(value, BaseModel)}


def written(value: Any) -> str:
    """Return a value as it is written on the command line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name}: {written(inside)}' for name, inside in _tree(value).items())}}}"
    return f"[{', '.join(map(str, cast(tuple[Any, ...], value)))}]" if isinstance(value, tuple) else str(value)


def _tree(value: Any) -> Tree:
    """Return a mapping as a tree. Keys that are not texts stay, to be refused as unknown."""
    return cast(Tree, value)


def _value(path: str, text: str, where: str) -> Any:
    """Return the value of a setting from its text. Only lists and mappings are parsed as YAML, which includes JSON.

    Everything else stays text, which the model converts: YAML reads ``no`` as false and ``010`` as eight.
    """
    if _annotation(path) in (str, SecretStr) or not text.lstrip().startswith(("[", "{")):
        return text
    try:
        return read_yaml(text)
    except ValueError as error:
        raise SettingsError(f"{where}: this is not a list or mapping in YAML or JSON: {text}") from error


def _read_dotenv(path: Path) -> dict[str, str | None]:
    if not path.is_file():
        return {}
    from dotenv import dotenv_values

    try:
        return dotenv_values(path, encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} could not be read: {error}") from error


def _filled(variables: Mapping[str, str | None]) -> dict[str, str]:
    return {name: text for name, text in variables.items() if text}


def _models_of_deployments(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the model of each Azure deployment that the variables name.

    A name with a kind, such as ``ollama:llama3.2``, and a name of the hub are no models of a deployment.
    """
    pairs = ((variables.get(name), variables.get(model, "")) for model, name in DEPLOYMENTS.items())
    return {name: model for name, model in pairs if name and model and not set(":/") & set(model)}


def _from_variables(variables: Mapping[str, str | None], where: str, deployed: Collection[str]) -> Tree:
    """Return the settings among environment variables. Our names win over aliases; an empty variable is ignored.

    Args:
        variables: with their values.
        where: what they are part of, for messages.
        deployed: models that are called by the names of their deployments.
    """
    tree: Tree = {}
    for name, path in ALIASES.items():
        text = variables.get(name)
        if text and not (name in DEPLOYMENTS and text in deployed):
            tree = merge(tree, nested(path, KINDS.get(name, "") + text))
    # In sorted order RAGSTONE_CHUNK__SIZE comes after RAGSTONE_CHUNK and wins.
    for name in sorted(variables):
        text = variables[name]
        if name.upper().startswith(PREFIX) and name not in OUTSIDE and text:
            path = name[len(PREFIX) :].lower().replace("__", ".")
            branch = nested(path, _value(path, text, f"{name} in {where}"))
            _refuse_unknown(branch, f"from {name} in {where}")
            tree = merge(tree, branch)
    return tree


def _refuse_unknown(tree: Tree, where: str = "", model: type[BaseModel] = Settings, path: str = "") -> None:
    """Refuse unknown keys while their source is still known; it is empty for those that the caller has just written."""
    for name, value in tree.items():
        if name not in model.model_fields:
            raise SettingsError(_unknown(f"{path}{_whole(name, value)}", f" ({where})" if where else ""))
        for inside, section, below in _sections(model.model_fields[name].annotation, f"{path}{name}", value):
            _refuse_unknown(inside, where, section, below)


def _whole(name: str, value: Any) -> str:
    """Return the path of an unknown key as far as it is the only one."""
    while isinstance(value, dict) and len(inside := _tree(value)) == 1:
        ((below, value),) = inside.items()
        name = f"{name}.{below}"
    return name


def _sections(kind: Any, path: str, value: Any) -> Iterator[tuple[Tree, type[BaseModel], str]]:
    """Yield the sections that a field holds: itself, or each section that the user named."""
    if isinstance(value, dict) and get_origin(kind) is dict:
        for key, inside in _tree(value).items():
            yield from _sections(get_args(kind)[1], f"{path}.{key}", inside)
    elif isinstance(value, dict) and isinstance(kind, type) and issubclass(kind, BaseModel):
        yield _tree(value), kind, f"{path}."


def _annotation(path: str) -> Any:
    """Return the type of a setting, or None if there is no such setting."""
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
"""The name that pydantic gives to a bounded number in a union."""


def validated(tree: Tree) -> Settings:
    """Return the settings of a tree.

    Raises:
        SettingsError: a key is unknown, or a value is malformed; the message lists all problems.
    """
    try:
        return Settings.model_validate(tree)
    except ValidationError as error:
        problems = error.errors()
        # A field that takes a number or a word reports both; the report about the number is enough.
        numbers = [problem for problem in problems if _NUMBER in problem["loc"]]
        others = [one for one in problems if not any(one["loc"][:-1] == number["loc"][:-1] for number in numbers)]
        raise SettingsError("; ".join(_in_words(problem) for problem in others + numbers)) from error


def _in_words(problem: Any) -> str:
    path = ".".join(str(part) for part in problem["loc"] if part != _NUMBER)
    if problem["type"] == "extra_forbidden":
        return _unknown(path)
    if problem["type"] == "model_type":
        return f"{path} is a section of settings, not a setting; list all settings with: ragstone settings"
    if problem["type"] == "tuple_type":
        return f"{path} is a list; write it as [one, two]"
    return f"{path}: {problem['msg'].removeprefix('Value error, ')}"


def _unknown(path: str, where: str = "") -> str:
    known = [path for path, _, _ in leaves(Settings())]
    sections = sorted({path.rpartition(".")[0] for path in known} - {""})
    near = get_close_matches(path, known + sections, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"there is no setting '{path}'{where}{hint}; list all settings with: ragstone settings"

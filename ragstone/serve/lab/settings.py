"""The settings of both sides, and an input for each, made from the settings themselves.

A new setting has its input without a line here.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import yaml
from annotated_types import Ge, Gt, Le, Lt
from pydantic import SecretStr
from pydantic.fields import FieldInfo

from ragstone.core.errors import SettingsError, UsageError
from ragstone.core.frozen import frozen
from ragstone.engine.built import PATHS
from ragstone.engine.experiments.preset import as_preset
from ragstone.review.compare import SettingDifference
from ragstone.settings import Settings
from ragstone.settings.load import Tree, changed, leaves, load, merge, nested, written
from ragstone.settings.yaml_text import read_yaml

Kind = Literal["toggle", "choice", "slider", "number", "text", "lines", "yaml"]

_OF_A_QUESTION = ("query.", "rank.", "respond.", "review.", "index.")
"""Sections that change how a question is answered. Services are not among them: a page must not send a key to
another address."""
_ELSEWHERE = ("review.mlflow",)
TITLES = {
    "query": "Search",
    "rank": "Rank",
    "rank.boosts": "Boosts",
    "query.web": "Web",
    "index": "Indexes",
    "respond": "Answer",
    "respond.model": "Language model",
    "review": "Judge",
    "review.marks": "Weights of marks",
    "review.confidence": "Weights of confidence",
}
"""Sections in the order of the page, and their titles."""


@frozen
class Input:
    """The input of a setting.

    A slider has both ends, a number has one of them or none. ``word`` is a value that replaces the number.
    """

    path: str
    kind: Kind
    value: Any
    default: Any
    description: str
    whole: bool = False
    low: float | None = None
    high: float | None = None
    options: tuple[str, ...] = ()
    word: str = ""

    @property
    def section(self) -> str:
        return self.path.rpartition(".")[0]

    @property
    def label(self) -> str:
        """Return the name without its section, in words."""
        return self.path.rpartition(".")[2].replace("_", " ")

    @property
    def step(self) -> float:
        """Return how much a click changes a number."""
        if self.whole:
            return 1
        return 0.01 if self.high is not None and self.low is not None and self.high - self.low <= 1 else 0.05

    def shown(self, value: Any) -> Any:
        """Return a value as the input holds it: lines and YAML are text."""
        if self.kind == "lines":
            return "\n".join(value)
        if self.kind == "yaml":
            plain = {name: list(words) for name, words in value.items()}
            return yaml.safe_dump(plain, allow_unicode=True, sort_keys=False) if plain else ""
        if self.kind in ("slider", "number") and value != self.word:
            return int(value) if self.whole else float(value)
        return value

    def read(self, typed: Any) -> Any:
        """Return the typed value as that of the setting.

        Raises:
            SettingsError: it is not YAML.
        """
        if self.kind == "lines":
            return tuple(line.strip() for line in typed.splitlines() if line.strip())
        if self.kind == "yaml":
            return _mapping(self.path, typed)
        return typed


def is_changeable(path: str) -> bool:
    """Return whether the lab can change a setting: it applies to a question and needs no rebuild."""
    return path.startswith(_OF_A_QUESTION) and path not in PATHS and path not in _ELSEWHERE


def inputs(settings: Settings) -> Iterator[Input]:
    """Yield an input for each setting of a question."""
    yield from _inputs(settings, is_changeable)


def stored_inputs(settings: Settings) -> Iterator[Input]:
    """Yield an input for each setting that needs a rebuild."""
    yield from _inputs(settings, PATHS.__contains__)


def sections(all_inputs: Iterator[Input]) -> dict[str, list[Input]]:
    """Return the inputs by section, in the order of the page."""
    found: dict[str, list[Input]] = {section: [] for section in TITLES}
    for one in all_inputs:
        found.setdefault(one.section, []).append(one)
    return {section: its for section, its in found.items() if its}


def _inputs(settings: Settings, wanted: Callable[[str], bool]) -> Iterator[Input]:
    defaults = {path: value for path, _, value in leaves(Settings())}
    for path, info, value in leaves(settings):
        if wanted(path) and not isinstance(value, SecretStr):
            yield _input(path, info, value, defaults[path])


def _input(path: str, info: FieldInfo, value: Any, default: Any) -> Input:
    kind, limits, word = _number_or_word(info)
    low, high = _ends(limits)
    options: tuple[str, ...] = ()
    whole = kind is int
    if kind is bool:
        how: Kind = "toggle"
    elif get_origin(kind) is Literal:
        how, options = "choice", get_args(kind)
    elif kind in (int, float):
        how = "slider" if low is not None and high is not None else "number"
    elif get_origin(kind) is tuple:
        how = "lines"
    elif get_origin(kind) is dict:
        how = "yaml"
    else:
        how = "text"
    return Input(
        path=path,
        kind=how,
        value=value,
        default=default,
        description=info.description or "",
        whole=whole,
        low=low,
        high=high,
        options=options,
        word=word,
    )


def _number_or_word(info: FieldInfo) -> tuple[Any, list[Any], str]:
    """Return the type of a setting, its limits, and the word that can replace a number."""
    if get_origin(info.annotation) not in (Union, UnionType):
        return info.annotation, list(info.metadata), ""
    number, words = get_args(info.annotation)
    if get_origin(number) is not Annotated:
        return number, [], get_args(words)[0]
    kind, *metadata = get_args(number)
    return (
        kind,
        [limit for one in metadata for limit in (one.metadata if isinstance(one, FieldInfo) else [one])],
        get_args(words)[0],
    )


def _ends(limits: list[Any]) -> tuple[float | None, float | None]:
    low = high = None
    for limit in limits:
        match limit:
            case Ge(ge=end) | Gt(gt=end):
                low = end
            case Le(le=end) | Lt(lt=end):
                high = end
            case _:
                pass
    return low, high  # pyright: ignore[reportReturnType]


def _mapping(path: str, typed: str) -> dict[str, tuple[str, ...]]:
    try:
        tree: Any = read_yaml(typed) or {}
    except ValueError as error:
        raise SettingsError(f"{path}: not a mapping in YAML: {typed}") from error
    if not isinstance(tree, dict):
        raise SettingsError(f"{path} is a mapping; write it as name: [one, two]")
    lists: dict[str, list[str] | tuple[str, ...]] = {**tree}
    return {name: tuple(words) if isinstance(words, list) else words for name, words in lists.items()}


# ---------------------------------------------------------------- the two sides

NAMES = ("A", "B")
Changes = Mapping[str, Any]
"""The settings, by path, that a side changes."""


def settings_of(base: Settings, changes: Changes) -> Settings:
    """Return the settings of a side.

    Raises:
        SettingsError: a value does not fit its setting.
    """
    tree: Tree = {}
    for path, value in changes.items():
        tree = merge(tree, nested(path, value))
    return changed(base, tree)


def changes_of(base: Settings, preset: str) -> dict[str, Any]:
    """Return the changes that turn a side into a preset, except those that need a rebuild.

    Raises:
        SettingsError: there is no such preset.
    """
    return minus(load(preset=preset).settings, base)


def minus(one: Settings, base: Settings) -> dict[str, Any]:
    """Return the settings of a question in which one differs from another."""
    known = {path: value for path, _, value in leaves(base)}
    return {path: value for path, _, value in leaves(one) if is_changeable(path) and value != known.get(path)}


def differing(a: Settings, b: Settings) -> tuple[SettingDifference, ...]:
    """Return the settings of a question in which the two differ."""
    known = {path: value for path, _, value in leaves(a)}
    return tuple(
        SettingDifference(path=path, a=written(known[path]), b=written(value)) for path, value in minus(b, a).items()
    )


def rebuild_command(folder: Path, changes: Changes) -> str:
    """Return the command that rebuilds with these changes."""
    options = [word for path, value in changes.items() for word in ("--set", f"{path}={written(value)}")]
    return shlex.join(["ragstone", "rebuild", "--kb", str(folder), *options])


def save(settings: Settings, file: Path, *, replace: bool = False) -> None:
    """Write settings as a preset.

    Raises:
        UsageError: the file does not end in .yaml or .yml, or it exists and ``replace`` is False.
    """
    if file.suffix not in (".yaml", ".yml"):
        raise UsageError(f"{file} does not end in .yaml; choose such a name")
    try:
        with file.open("w" if replace else "x", encoding="utf-8") as out:
            out.write(as_preset(settings))
    except FileExistsError as error:
        raise UsageError(f"{file} exists; tick 'replace', or choose another name") from error

"""Inputs for settings, made from the settings themselves: a new setting has its input without a line here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import yaml
from annotated_types import Ge, Gt, Le, Lt
from pydantic import SecretStr
from pydantic.fields import FieldInfo

from ragstone.config import leaves
from ragstone.errors import SettingsError
from ragstone.keeping.built import PATHS
from ragstone.sections import Settings
from ragstone.yaml_text import read_yaml

Kind = Literal["toggle", "choice", "slider", "number", "text", "lines", "yaml"]

_OF_A_QUESTION = ("query.", "rank.", "respond.", "review.", "index.")
"""Beginnings of the settings that decide how a question is searched for and answered. Services stay as they are: a
page must not send a key to another address."""
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
    "review.judge_model": "Judging model",
    "review.marks": "Weights of marks",
    "review.confidence": "Weights of confidence",
}
"""Sections in the order they are shown, and what they are called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """How a setting is put in.

    A slider has both ends, a number maybe one of them, or none. ``word`` may stand in the place of a number.
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
        """The name without its section, in words."""
        return self.path.rpartition(".")[2].replace("_", " ")

    @property
    def step(self) -> float:
        """By how much a click changes a number."""
        if self.whole:
            return 1
        return 0.01 if self.high is not None and self.low is not None and self.high - self.low <= 1 else 0.05

    def shown(self, value: Any) -> Any:
        """A setting's value as the input holds it: lines and YAML are text."""
        if self.kind == "lines":
            return "\n".join(value)
        if self.kind == "yaml":
            plain = {name: list(words) for name, words in value.items()}
            return yaml.safe_dump(plain, allow_unicode=True, sort_keys=False) if plain else ""
        if self.kind in ("slider", "number") and value != self.word:
            return int(value) if self.whole else float(value)
        return value

    def read(self, typed: Any) -> Any:
        """What was put in, as a setting's value.

        Raises:
            SettingsError: it is no YAML.
        """
        if self.kind == "lines":
            return tuple(line.strip() for line in typed.splitlines() if line.strip())
        if self.kind == "yaml":
            return _mapping(self.path, typed)
        return typed


def is_changeable(path: str) -> bool:
    """Whether a setting may differ from question to question, without a rebuild, and is the lab's to change."""
    return path.startswith(_OF_A_QUESTION) and path not in PATHS and path not in _ELSEWHERE


def inputs(settings: Settings) -> Iterator[Input]:
    """An input for each setting that may differ from question to question."""
    yield from _inputs(settings, is_changeable)


def stored_inputs(settings: Settings) -> Iterator[Input]:
    """An input for each setting that decides what is stored."""
    yield from _inputs(settings, PATHS.__contains__)


def sections(all_inputs: Iterator[Input]) -> dict[str, list[Input]]:
    """The inputs by section, in the order they are shown."""
    found: dict[str, list[Input]] = {section: [] for section in TITLES}
    for one in all_inputs:
        found.setdefault(one.section, []).append(one)
    return {section: its for section, its in found.items() if its}


def _inputs(settings: Settings, wanted: Any) -> Iterator[Input]:
    usual = {path: value for path, _, value in leaves(Settings())}
    for path, info, value in leaves(settings):
        if wanted(path) and not isinstance(value, SecretStr):
            yield _input(path, info, value, usual[path])


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
    """What a setting is, its limits, and the one word that may stand in the place of a number."""
    if get_origin(info.annotation) not in (Union, UnionType):
        return info.annotation, list(info.metadata), ""
    number, words = get_args(info.annotation)
    if get_origin(number) is not Annotated:
        return number, [], get_args(words)[0]
    kind, *told = get_args(number)
    return (
        kind,
        [limit for one in told for limit in (one.metadata if isinstance(one, FieldInfo) else [one])],
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
    return low, high  # pyright: ignore[reportReturnType]


def _mapping(path: str, typed: str) -> dict[str, tuple[str, ...]]:
    try:
        tree = read_yaml(typed) or {}
    except (yaml.YAMLError, ValueError) as error:
        raise SettingsError(f"{path}: not a mapping in YAML: {typed}") from error
    if not isinstance(tree, dict):
        raise SettingsError(f"{path} is a mapping; write it as name: [one, two]")
    return {name: tuple(words) if isinstance(words, list) else words for name, words in tree.items()}

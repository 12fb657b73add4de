"""What commands have in common: the options, and the settings that they name."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from ragstone.engine import Engine

DEFAULT_KB = Path(".ragstone")

Kb = Annotated[Path, typer.Option("--kb", metavar="DIR", help="Folder of the knowledge base.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Where = Annotated[
    str | None, typer.Option("--where", metavar="FILTER", help="Only documents such as: language = de and kind = pdf.")
]
Session = Annotated[
    str,
    typer.Option(
        "--session",
        metavar="NAME",
        help="Keep the conversation under this name; the next question goes on with it.",
        show_default=False,
    ),
]
Wait = Annotated[
    float,
    typer.Option(
        "--wait",
        metavar="[SECONDS]",
        min=0,
        help="Wait while another process is indexing; for ever where no number follows.",
        show_default=False,
    ),
]
As = Annotated[
    str | None,
    typer.Option("--as", metavar="GROUP[,GROUP]", help="As somebody in these groups, who sees what they may read."),
]
Explain = Annotated[bool, typer.Option("--explain", help="Show how each score came about.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The settings that the command line asks for."""

    preset: str | None
    overrides: tuple[str, ...]

    def plus(self, overrides: Sequence[str]) -> Asked:
        """The same with more settings, which stand above."""
        return Asked(preset=self.preset, overrides=(*self.overrides, *overrides))

    def open(self, kb: Path, *, create: bool = False, as_built: bool = False, wait: float = 0.0) -> Engine:
        from ragstone.engine import Engine
        from ragstone.index import Patience
        from ragstone.serve.failures import tell

        patience, was_there = Patience(wait, tell), (kb / "CURRENT").is_file()
        engine = Engine.open(
            kb, self.overrides, preset=self.preset, create=create, as_built=as_built, patience=patience
        )
        if self.preset or not was_there:  # afterwards `ragstone status` tells it
            for one in engine.substitutes:
                tell(one.told)
        return engine


def _asked(
    *,
    preset: Annotated[
        str | None, typer.Option("--preset", metavar="NAME", help="Settings by name, or a YAML file of them.")
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="PATH=VALUE", help="A setting; may be repeated.")
    ] = None,
    chunk_size: Annotated[str | None, typer.Option(metavar="N", help="Sets chunk.size.")] = None,
    chunk_overlap: Annotated[str | None, typer.Option(metavar="N", help="Sets chunk.overlap.")] = None,
    chunk_strategy: Annotated[str | None, typer.Option(metavar="NAME", help="Sets chunk.strategy.")] = None,
    retrieval_method: Annotated[
        str | None, typer.Option(metavar="vector|bm25|hybrid", help="Sets query.method.")
    ] = None,
    vector_weight: Annotated[str | None, typer.Option(metavar="0..1", help="Sets query.vector_weight.")] = None,
    no_reranking: Annotated[bool, typer.Option("--no-reranking", help="Sets rank.reranker=none.")] = False,
    risk: Annotated[
        str | None,
        typer.Option(metavar="SHARE", help="Sets respond.risk: share of answers that may be wrong, such as 0.2."),
    ] = None,
    no_metadata: Annotated[bool, typer.Option("--no-metadata", help="Sets respond.metadata=false.")] = False,
) -> Asked:
    """The options that name settings; those of their own stand above ``--set``."""
    named = {
        "chunk.size": chunk_size,
        "chunk.overlap": chunk_overlap,
        "chunk.strategy": chunk_strategy,
        "query.method": retrieval_method,
        "query.vector_weight": vector_weight,
        "rank.reranker": "none" if no_reranking else None,
        "respond.risk": risk,
        "respond.metadata": "false" if no_metadata else None,
    }
    own = [f"{path}={value}" for path, value in named.items() if value is not None]
    return Asked(preset=preset, overrides=(*(set_ or ()), *own))


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `_asked` where it has a parameter ``asked``, so that they are written once."""
    options = inspect.signature(_asked, eval_str=True).parameters
    own = [p for p in inspect.signature(command, eval_str=True).parameters.values() if p.name != "asked"]

    def _call(**given: Any) -> None:
        asked = _asked(**{name: given.pop(name) for name in options})
        command(**given, asked=asked)

    keyword = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own]
    _call.__signature__ = inspect.Signature([*keyword, *options.values()])  # pyright: ignore[reportFunctionMemberAccess]
    _call.__name__, _call.__doc__ = command.__name__, command.__doc__
    return _call


def open_kb(kb: Path, wait: float = 0.0) -> Engine:
    return Asked(preset=None, overrides=()).open(kb, wait=wait)


def spelled_out(arguments: Sequence[str]) -> list[str]:
    """The same with a number after every ``--wait``, which the parser cannot leave out: for ever."""
    options = list(takewhile(lambda argument: argument != "--", arguments))
    for i, (one, following) in enumerate(zip(options, [*options[1:], ""], strict=True)):
        if one == "--wait" and not re.fullmatch(r"[0-9.]+|inf", following):
            options[i] = "--wait=inf"
    return [*options, *arguments[len(options) :]]

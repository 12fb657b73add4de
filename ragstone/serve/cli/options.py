"""The shared parts of commands: options, their settings, and opening the knowledge base."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragstone.core.frozen import frozen

if TYPE_CHECKING:
    from ragstone.engine.knowledge_base import KnowledgeBase
    from ragstone.settings import AcquireSettings

DEFAULT_KB = Path(".ragstone")

Kb = Annotated[Path, typer.Option("--kb", metavar="DIR", help="Folder of the knowledge base.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Where = Annotated[
    str | None,
    typer.Option("--where", metavar="FILTER", help="Use only documents that match, such as: language = de."),
]
Session = Annotated[
    str,
    typer.Option(
        "--session",
        metavar="NAME",
        help="Keep the conversation under this name; later questions continue it.",
        show_default=False,
    ),
]
Wait = Annotated[
    float,
    typer.Option(
        "--wait",
        metavar="[SECONDS]",
        min=0,
        help="Wait while another process is indexing; without a number, wait until it ends.",
        show_default=False,
    ),
]
As = Annotated[
    str | None,
    typer.Option("--as", metavar="GROUP[,GROUP]", help="Read only what members of these groups may read."),
]
Create = Annotated[bool, typer.Option("--create", help="Create an empty knowledge base if there is none.")]
Explain = Annotated[bool, typer.Option("--explain", help="Show the history of each score.")]


@frozen
class Asked:
    """The settings of the command line; ``notices`` says whether `open` reports replaced parts of the preset."""

    preset: str | None = None
    overrides: tuple[str, ...] = ()
    notices: bool = True

    def plus(self, overrides: Sequence[str]) -> Asked:
        """Return the same with more settings, which take precedence."""
        return replace(self, overrides=(*self.overrides, *overrides))

    def acquire(self, kb: Path) -> AcquireSettings:
        """Return the settings by which a knowledge base, which need not exist yet, reads its sources."""
        from ragstone.engine.opening import settings_at

        return settings_at(kb, self.overrides, self.preset).acquire

    def open(self, kb: Path, *, create: bool = False, as_built: bool = False, wait: float = 0.0) -> KnowledgeBase:
        """Open a knowledge base with these settings."""
        from ragstone.catalog.lock import Patience
        from ragstone.engine.knowledge_base import KnowledgeBase
        from ragstone.serve.cli.screen import write_error
        from ragstone.settings.substitutes import unused_keys

        patience, existed = Patience(wait, write_error), (kb / "CURRENT").is_file()
        opened = KnowledgeBase.open(
            kb, self.overrides, preset=self.preset, create=create, as_built=as_built, patience=patience
        )
        # Later, `ragstone status` and `ragstone settings` show these notices.
        if self.notices and (self.preset or not existed):
            with opened.current() as version:
                for one in version.substitutes:
                    write_error(one.told)
            if unused := unused_keys(opened.settings):
                write_error(unused)
        return opened


@contextmanager
def opened(
    kb: Path, asked: Asked | None = None, *, create: bool = False, as_built: bool = False, wait: float = 0.0
) -> Generator[KnowledgeBase]:
    """Yield an open knowledge base, and close it."""
    with closing((asked or Asked()).open(kb, create=create, as_built=as_built, wait=wait)) as knowledge_base:
        yield knowledge_base


def _asked(
    *,
    preset: Annotated[
        str | None, typer.Option("--preset", metavar="NAME", help="A preset, or a YAML file of settings.")
    ] = None,
    profile: Annotated[
        str | None, typer.Option("--profile", metavar="NAME", help="A profile of the preset, such as quick.")
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="PATH=VALUE", help="Change a setting; may be repeated.")
    ] = None,
    chunk_size: Annotated[str | None, typer.Option(metavar="N", help="Set chunk.size.")] = None,
    chunk_overlap: Annotated[str | None, typer.Option(metavar="N", help="Set chunk.overlap.")] = None,
    chunk_strategy: Annotated[str | None, typer.Option(metavar="NAME", help="Set chunk.strategy.")] = None,
    retrieval_method: Annotated[
        str | None, typer.Option(metavar="vector|bm25|hybrid", help="Set query.method.")
    ] = None,
    vector_weight: Annotated[str | None, typer.Option(metavar="0..1", help="Set query.vector_weight.")] = None,
    no_reranking: Annotated[
        bool, typer.Option("--no-reranking", help="Set rank.reranker=none and rank.diversify=none.")
    ] = False,
    risk: Annotated[
        str | None,
        typer.Option(metavar="SHARE", help="Set respond.risk: the share of answers that may be wrong, such as 0.2."),
    ] = None,
    no_metadata: Annotated[bool, typer.Option("--no-metadata", help="Set respond.metadata=false.")] = False,
) -> Asked:
    """Return the settings that these options name; named options take precedence over ``--set``."""
    named = {
        "profile": profile,
        "chunk.size": chunk_size,
        "chunk.overlap": chunk_overlap,
        "chunk.strategy": chunk_strategy,
        "query.method": retrieval_method,
        "query.vector_weight": vector_weight,
        "rank.reranker": "none" if no_reranking else None,
        "rank.diversify": "none" if no_reranking else None,
        "respond.risk": risk,
        "respond.metadata": "false" if no_metadata else None,
    }
    own = [f"{path}={value}" for path, value in named.items() if value is not None]
    return Asked(preset=preset, overrides=(*(set_ or ()), *own))


PLAIN = ("preset", "profile", "set_")
CHUNKING = (*PLAIN, "chunk_size", "chunk_overlap", "chunk_strategy")
"""Options of commands that store documents."""
ASKING = (*PLAIN, "retrieval_method", "vector_weight", "no_reranking", "risk", "no_metadata")
"""Options of commands that query a stored knowledge base."""
ALL = (*CHUNKING, *ASKING[len(PLAIN) :])


def with_options(
    command: Callable[..., None], build: Callable[..., object], argument: str, names: Sequence[str]
) -> Callable[..., None]:
    """Replace a parameter of a command by options with these names, from which `build` makes the parameter."""
    known = inspect.signature(build, eval_str=True).parameters
    own = [one for one in inspect.signature(command, eval_str=True).parameters.values() if one.name != argument]

    def _call(**given: Any) -> None:  # the parser passes every option by name
        built = build(**{name: given.pop(name) for name in names})
        command(**given, **{argument: built})

    keyword = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own]
    signature = inspect.Signature([*keyword, *(known[name] for name in names)])
    _call.__signature__ = signature  # pyright: ignore[reportFunctionMemberAccess] - typer reads it
    _call.__name__, _call.__doc__ = command.__name__, command.__doc__
    return _call


def with_settings(command: Callable[..., None], names: Sequence[str] = ALL) -> Callable[..., None]:
    """Give a command that has a parameter ``asked`` the settings options of these names."""
    return with_options(command, _asked, "asked", names)


@frozen
class Rights:
    """The scopes of a key or a person, and the groups whose documents they may read; None means all."""

    scopes: list[str]
    groups: list[str] | None


def _rights(
    *,
    scope: Annotated[
        list[str] | None,
        typer.Option(metavar="read|write|tokens|admin", help="Right to grant; may be repeated. Default: read."),
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Allow reading the documents of this group; may be repeated. Default: all documents."
        ),
    ] = None,
    public_only: Annotated[
        bool, typer.Option("--public-only", help="Allow reading only documents without access groups.")
    ] = False,
) -> Rights:
    from ragstone.core.errors import UsageError

    if public_only and group:
        raise UsageError("--public-only and --group cannot be combined")
    return Rights(scopes=scope or ["read"], groups=[] if public_only else group)


def with_rights(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that has a parameter ``rights`` the options ``--scope``, ``--group`` and ``--public-only``."""
    return with_options(command, _rights, "rights", ("scope", "group", "public_only"))


def with_plain_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command ``--preset``, ``--profile`` and ``--set``."""
    return with_settings(command, PLAIN)


def with_chunk_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of those that store documents."""
    return with_settings(command, CHUNKING)


def with_question_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of those that ask."""
    return with_settings(command, ASKING)


def spelled_out(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with a number after every ``--wait``, which the parser requires."""
    options = list(takewhile(lambda argument: argument != "--", arguments))
    for i, (one, following) in enumerate(zip(options, [*options[1:], ""], strict=True)):
        if one == "--wait" and not re.fullmatch(r"[0-9.]+|inf", following):
            options[i] = "--wait=inf"
    return [*options, *arguments[len(options) :]]

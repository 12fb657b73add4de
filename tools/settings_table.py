"""Write docs/settings.md from the settings themselves. ``make docs`` runs it; a test checks that it was run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from ragstone.config import ALIASES, KINDS, environment_name, leaves, preset_names
from ragstone.sections import Settings

PAGE = Path(__file__).parent.parent / "docs" / "settings.md"
HEAD = """\
<!-- Written by tools/settings_table.py; run `make docs` after a change of ragstone/config.py. -->

# Settings

Every setting has a path, such as `chunk.size`: a section and a name. It can be given in five places. Where two
places give the same setting, the one further up this list wins:

1. **The command line**: `--set chunk.size=600`, as often as you like.
2. **The environment**: `RAGSTONE_CHUNK__SIZE=600`, the path in capitals with two underscores for each point.
3. **A file named `.env`** in the current folder, with lines as in the environment. Its other lines are left alone.
4. **A preset**: a YAML file of sections, named with `--preset`, by `RAGSTONE_PRESET`, or remembered by the
   knowledge base. PRESETS
5. **The defaults** in the tables below.

A knowledge base remembers its preset and the settings it was built with; what it remembers stands above the preset.

A setting that does not exist is an error in every place, with the nearest name that does. A list is written
`[one, two]`, or as JSON. An empty environment variable counts as not set. Some settings shape what is stored:
after a change in `chunk`, or of `index.embedder` or `index.analyzer`, the knowledge base has to be rebuilt, and
Ragstone says so with the command that does it. The command `ragstone settings` shows the values in force.
"""
SECTIONS = {
    "": "Everything",
    "acquire": "acquire: reading sources",
    "acquire.columns": "acquire.columns: tables",
    "acquire.metadata": "acquire.metadata: facts found in texts",
    "acquire.access": "acquire.access: who may read what",
    "acquire.crawl": "acquire.crawl: web sites",
    "chunk": "chunk: cutting documents",
    "index": "index: storing chunks",
    "query": "query: finding candidates",
    "rank": "rank: choosing evidence",
    "respond": "respond: writing the answer",
    "serve": "serve: the HTTP server",
    "serve.limits": "serve.limits: what a key may take",
    "serve.uploads": "serve.uploads: files sent to the server",
    "serve.tls": "serve.tls: encrypted connections",
}
SITES = """
## Web sites by name

A site that is crawled again and again gets a name, and `ragstone crawl NAME` then knows where it is. Under its name it
may have any setting of `acquire.crawl`, which then holds for that site only:

    acquire:
      sites:
        cuda_q:
          start: https://nvidia.github.io/cuda-quantum/latest/
          delay_seconds: 1

In the environment that is `RAGSTONE_ACQUIRE__SITES__CUDA_Q__START`. Names are of small letters, digits, `_` and `-`.
"""
ALIAS_HEAD = """\
## Names that other systems use

These names work in the environment and in `.env` too. Ragstone's own name for the setting wins over them.
"""


def render() -> str:
    """The whole page."""
    presets = ", ".join(f"`{name}`" for name in preset_names())
    parts = [HEAD.replace("PRESETS", f"Shipped: {presets}.")]
    section = None
    for path, info, value in leaves(Settings()):
        if path.rpartition(".")[0] != section:
            section = path.rpartition(".")[0]
            parts.append(f"\n## {SECTIONS.get(section, section)}\n\n")
            parts.append(_row("setting", "in the environment", "values", "default", "what it is"))
            parts.append(_row(*["---"] * 5))
        parts.append(
            _row(f"`{path}`", f"`{environment_name(path)}`", _values(info), _code(value), info.description or "")
        )
    parts += [SITES, f"\n{ALIAS_HEAD}\n"]
    parts.append(_row("name", "setting"))
    parts.append(_row("---", "---"))
    parts += [_row(f"`{name}`", f"`{path}`{_kind(name)}") for name, path in ALIASES.items()]
    return "".join(parts)


def _kind(alias: str) -> str:
    return f", with `{KINDS[alias]}` before it" if alias in KINDS else ""


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def _values(info: FieldInfo) -> str:
    """The type in words, or the choices, and the bounds."""
    return _of_kind(info.annotation, info.metadata)


def _of_kind(kind: Any, limits: Sequence[Any] = ()) -> str:
    if get_origin(kind) is Annotated:
        return _of_kind(get_args(kind)[0], get_args(kind)[1].metadata)
    if get_origin(kind) in (Union, UnionType):
        return ", or ".join(map(_of_kind, get_args(kind)))
    if get_origin(kind) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(kind))
    if get_origin(kind) is tuple:
        item = get_args(kind)[0]
        choices = [f"`{choice}`" for choice in get_args(item)] if get_origin(item) is Literal else []
        return f"list of {', '.join(choices) or 'texts'}"
    if get_origin(kind) is dict:
        value = get_args(kind)[1]
        if isinstance(value, type):
            return "a section under each name"
        return "mapping of lists of texts" if get_args(value)[-1] is Ellipsis else "mapping of pairs of numbers"
    name = {str: "text", SecretStr: "secret", int: "whole number", float: "number", bool: "`true`, `false`"}[kind]
    words = {"gt": "above", "ge": "at least", "lt": "below", "le": "at most"}
    bounds = [
        f"{words[bound]} {getattr(limit, bound):g}"
        for limit in limits
        for bound in words
        if getattr(limit, bound, None) is not None
    ]
    return ", ".join([name, *bounds])


def _code(value: object) -> str:
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple):
        return f"`[{', '.join(map(str, value))}]`"
    return f"`{value}`" if str(value) else "none"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
    print(f"wrote {PAGE}")

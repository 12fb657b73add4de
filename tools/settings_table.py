"""Write docs/settings.md from the settings. ``make docs`` runs this; a test checks that the page is current."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from ragstone.settings import ConnectionSettings, Settings
from ragstone.settings.load import ALIASES, KINDS, leaves, preset_names

PAGE = Path(__file__).parent.parent / "docs" / "settings.md"
HEAD = """\
<!-- Written by tools/settings_table.py; run `make docs` after a change in ragstone/settings. -->

# Settings

Every setting has a path: a section and a name, such as `chunk.size`. `ragstone settings` lists all settings with
their values and the origin of each value.

Set a value in one of these places. Each place overrides the ones below it.

1. **Command line**: `--set chunk.size=600`, as often as needed.
2. **Environment**: `RAGSTONE_CHUNK__SIZE=600`, the path in capitals with two underscores for each dot.
3. **`.env` file** in the current folder, with the same names. Ragstone ignores variables of other programs.
4. **Profile**: named settings of the preset, chosen with `--profile` or `RAGSTONE_PROFILE`. Over HTTP,
   `POST /query` and `POST /search` take a `profile` for one question. The preset `docs-site` has `complex`, `quick`,
   `strict` and `code`; `publications` has `development`.
5. **Knowledge base**: the settings that it was built with.
6. **Preset**: a YAML file with sections, chosen with `--preset` or `RAGSTONE_PRESET` and remembered by the knowledge
   base. Built-in presets: PRESETS.
7. **Defaults**, as in the tables below.

An unknown name is an error in every place, and the message suggests the nearest name. Write a list as `[one, two]` or
as JSON. Ragstone ignores empty variables.

A change of `chunk`, `index.embedder`, `index.dimensions` or `index.analyzer` requires a rebuild, and Ragstone prints
the command. All other settings take effect at once.

**Services need consent.** Ragstone uses a model or service only if a setting or the chosen preset names it. An API
key alone sends nothing anywhere; `ragstone settings` reports unused keys.
"""
SECTIONS = {
    "": "Preset and profile",
    "acquire": "Reading sources",
    "acquire.columns": "Tables",
    "acquire.metadata": "Extracted metadata",
    "acquire.access": "Access rules",
    "acquire.crawl": "Web sites",
    "acquire.remote": "Servers, buckets and databases",
    "acquire.captions": "Descriptions of pictures",
    "chunk": "Chunking",
    "index": "Indexing",
    "query": "Retrieval",
    "query.web": "Web search",
    "rank": "Evidence",
    "rank.boosts": "Boosts",
    "respond": "Answers",
    "respond.model": "Language model",
    "review": "Judging and history",
    "review.marks": "Weights of scores",
    "review.confidence": "Confidence",
    "review.telemetry": "Telemetry",
    "learning": "Learning from feedback",
    "services": "Services in general",
    "services.openai": "OpenAI and compatible servers",
    "services.azure": "Azure OpenAI",
    "services.exa": "Exa",
    "services.searxng": "SearXNG",
    "services.chroma": "Chroma",
    "services.qdrant": "Qdrant",
    "services.postgres": "PostgreSQL",
    "services.redis": "Redis",
    "cache": "Cache",
    "serve": "HTTP server",
    "serve.limits": "Quotas",
    "serve.uploads": "Uploads",
    "serve.tls": "TLS",
    "serve.oidc": "Sign-in with OpenID Connect",
    "serve.sessions": "Sessions of people",
    "serve.widget": "The chat on other sites",
    "jobs": "Jobs and workers",
}
"""Sections in the order of the page, and their titles."""
SITES = """
## Named web sites

Give a name to a site that you crawl repeatedly, and run `ragstone crawl NAME`. A site can override any setting of
`acquire.crawl`:

    acquire:
      sites:
        cuda_q:
          start: https://nvidia.github.io/cuda-quantum/latest/
          delay_seconds: 1

The environment variable is `RAGSTONE_ACQUIRE__SITES__CUDA_Q__START`. A name consists of lower-case letters, digits,
`_` and `-`.
"""
CONNECTIONS = """
## Named sources

Give a name to a source that is neither a file nor a web site, and run `ragstone sync NAME` ([Sources](sources.md)):

    acquire:
      connections:
        wiki:
          address: confluence://ann%40mill.example@mill.atlassian.net/wiki/spaces/MILL
          groups: [staff]

"""
ALIAS_HEAD = """\
## Variables of other programs

These names work in the environment and in `.env` as well. Ragstone's own name overrides them.
"""


def render() -> str:
    """Return the whole page."""
    presets = ", ".join(f"`{name}`" for name in preset_names())
    parts = [HEAD.replace("PRESETS", presets)]
    rows: dict[str, list[str]] = {section: [] for section in SECTIONS}
    for path, info, value in leaves(Settings()):
        cells = (f"`{path}`", _values(info), _code(value), info.description or "")
        rows[path.rpartition(".")[0]].append(_row(*cells))
    for section, title in SECTIONS.items():
        name = f"{title}: `{section}`" if section else title
        parts += [f"\n## {name}\n\n", _row("setting", "values", "default", "description"), _row(*["---"] * 4)]
        parts += rows[section]
    parts += [
        SITES,
        CONNECTIONS,
        _row("setting of a connection", "values", "default", "description"),
        _row(*["---"] * 4),
    ]
    for path, info, value in leaves(ConnectionSettings.model_construct(address="")):
        if "." not in path:
            parts.append(_row(f"`{path}`", _values(info), _code(value), info.description or ""))
    parts.append("\n`columns` takes the settings of `acquire.columns`, for the columns of a query.\n")
    parts += [f"\n{ALIAS_HEAD}\n"]
    parts += [_row("name", "setting"), _row("---", "---")]
    parts += [_row(f"`{name}`", f"`{path}`{_prefix(name)}") for name, path in ALIASES.items()]
    return "".join(parts)


def _prefix(alias: str) -> str:
    return f", with the prefix `{KINDS[alias]}`" if alias in KINDS else ""


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def _values(info: FieldInfo) -> str:
    """Return the type in words, or the choices, and the bounds."""
    return _of_kind(info.annotation, info.metadata)


def _of_kind(kind: Any, limits: Sequence[Any] = ()) -> str:
    if get_origin(kind) is Annotated:
        return _of_kind(get_args(kind)[0], get_args(kind)[1].metadata)
    if get_origin(kind) in (Union, UnionType):
        return ", or ".join(map(_of_kind, get_args(kind)))
    if get_origin(kind) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(kind))
    if get_origin(kind) is tuple:
        return "list of texts" if get_args(kind)[-1] is Ellipsis else "pair of numbers"
    if get_origin(kind) is dict:
        value = get_args(kind)[1]
        if get_origin(value) is tuple:
            return "mapping of lists of texts" if get_args(value)[-1] is Ellipsis else "mapping of pairs of numbers"
        return "mapping of texts" if get_origin(value) is Annotated else "mapping of sections"
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
        return f"`[{', '.join(map(str, cast(tuple[object, ...], value)))}]`"
    return f"`{value}`" if str(value) else "none"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
    print(f"wrote {PAGE}")

"""Write docs/command-line.md from the commands themselves. ``make docs`` runs it; a test checks that it was run."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from ragstone.serve.cli import app

PAGE = Path(__file__).parent.parent / "docs" / "command-line.md"
HEAD = """\
<!-- Written by tools/command_line_page.py; run `make docs` after a change of ragstone/serve/commands. -->

# The command line

```sh
ragstone add docs/ notes.txt
ragstone ask "How are chunks cut?"
```

A knowledge base lies in a folder, `.ragstone` unless `--kb` names another; `ragstone add` makes it. An answer goes
to standard output, with the place of every quotation; `ragstone show` prints what stands there:

```sh
ragstone ask "How are chunks cut?" --explain
ragstone show docs/settings.md --span 0:200
```

With `--json` a command prints one JSON object and nothing else to standard output. Messages and progress go to
standard error. Colour appears only on a terminal, and not where the variable `NO_COLOR` is set.

```sh
ragstone search "overlap" -k 3 --where 'kind = markdown' --json
ragstone ask "How are chunks cut?" --retrieval-method bm25 --set rank.top_k=3 --json
```

Chunk options make sense when a knowledge base is made. Later they are refused, with the command that rebuilds it:

```sh
ragstone rebuild --set chunk.size=800
```

All settings are on the page [Settings](settings.md).

| exit code | meaning |
|---|---|
| 0 | done; an answer that says the documents do not tell is an answer |
| 1 | it could not be done; one line on standard error says why. Of `gate`: something was lost |
| 2 | what was asked cannot be done as asked: an option, a setting, a filter, an empty question |
| 130 | stopped by Ctrl-C; documents reported as added are kept |
"""
SHARED = """\
## Settings options

The commands ask, chat, search, add, sync, crawl, settings, rebuild, eval, sweep, gate and
policy simulate take these as well. An option
with a name of its own stands above `--set`.
"""


def render() -> str:
    """The whole page."""
    group: Any = typer.main.get_command(app)
    parts = [HEAD]
    shared: list[Any] = []
    for name, command in _commands(group):
        own = [param for param in command.params if param.name not in _SHARED and param.name != "help"]
        shared = shared or [param for param in command.params if param.name in _SHARED]
        arguments = "".join(f" {_metavar(param)}" for param in own if param.param_type_name == "argument")
        parts.append(f"\n## ragstone {name}\n\n```text\nragstone {name}{arguments} [OPTION]...\n```\n\n")
        parts.append(inspect.cleandoc(command.help) + "\n")
        parts.extend(_table(own))
    parts.append(f"\n{SHARED}")
    parts.extend(_table(shared))
    return "".join(parts)


def _commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """The commands by their whole names."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


_SHARED = {
    "preset",
    "set_",
    "chunk_size",
    "chunk_overlap",
    "chunk_strategy",
    "retrieval_method",
    "vector_weight",
    "no_reranking",
    "no_metadata",
    "risk",
}


def _table(params: list[Any]) -> Iterator[str]:
    rows = [(_typed(param), _help(param)) for param in params if param.help]
    if rows:
        yield "\n| argument or option | what it is |\n|---|---|\n"
    for typed, text in rows:
        yield f"| `{typed}` | {text} |\n"


def _typed(param: Any) -> str:
    if param.param_type_name == "argument":
        return _metavar(param)
    value = "" if param.is_flag else f" {param.metavar}"
    return (", ".join(param.opts) + value).replace("|", "\\|")


def _metavar(param: Any) -> str:
    return param.metavar or param.name.upper()


def _help(param: Any) -> str:
    has_default = isinstance(param.default, Path)
    return param.help.replace("|", "\\|") + (f" Default: `{param.default}`." if has_default else "")


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
    print(f"wrote {PAGE}")

"""Write docs/command-line.md from the commands. ``make docs`` runs it, and a test checks that the page is current."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import typer

from ragstone.serve.cli.app import SECTIONS, app
from ragstone.serve.cli.options import ASKING, CHUNKING, PLAIN

PAGE = Path(__file__).parent.parent / "docs" / "command-line.md"
HEAD = """\
<!-- Written by tools/command_line_page.py; run `make docs` after a change of ragstone/serve/cli. -->

# The command line

```sh
ragstone add examples/alderwren
ragstone ask "How much may a hotel cost per night?"
```

A knowledge base is a folder, `.ragstone` by default; `--kb` names another one. `ragstone add` creates it. The answer
goes to standard output with the location of every quotation, and `ragstone show` prints that location:

```sh
ragstone ask "How much may a hotel cost per night?" --explain
ragstone show people/travel-policy-2026.md --span 292:371
```

With `--json`, a command prints exactly one JSON object to standard output. Messages and progress go to standard error.
Colours appear only on a terminal, and never if the variable `NO_COLOR` is set.

```sh
ragstone search "hotel" -k 3 --where 'kind = markdown' --json
ragstone ask "How much may a hotel cost per night?" --retrieval-method bm25 --set rank.top_k=3 --json
```

`ask` and `chat` can add files first. If this creates the knowledge base, chunk options apply:

```sh
ragstone ask "How much may a hotel cost per night?" --add examples/alderwren --kb new \\
  --chunk-size 800 --chunk-strategy sentence
```

An existing knowledge base refuses other chunk settings and prints the command that rebuilds it:

```sh
ragstone rebuild --set chunk.size=800
```

The page [Settings](settings.md) lists all settings.

| exit code | meaning |
|---|---|
| 0 | done; an abstention is an answer, too |
| 1 | failed; one line on standard error says why. `eval gate`: quality dropped |
| 2 | wrong usage: an unknown option or setting, a wrong filter, an empty question |
| 130 | stopped by Ctrl-C; documents that were reported as added stay |
"""
SHARED = (
    ("", PLAIN),
    ("Chunk options", CHUNKING[len(PLAIN) :]),
    ("Question options", ASKING[len(PLAIN) :]),
)
"""Options that several commands share, by the title of their table."""


def render() -> str:
    """Return the whole page."""
    commands = list(_commands(typer.main.get_command(app)))
    parts = [HEAD]
    for name, command in commands:
        shared = {name for _, names in SHARED if _takes(command, names) for name in names}
        own = [param for param in command.params if param.name not in shared and param.name != "help"]
        arguments = "".join(f" {_metavar(param)}" for param in own if param.param_type_name == "argument")
        parts.append(f"\n## ragstone {name}\n\n```text\nragstone {name}{arguments} [OPTION]...\n```\n\n")
        parts.append(inspect.cleandoc(command.help) + "\n")
        parts.extend(_table(own))
    parts.append("\n## Settings options\n\nNamed options take precedence over `--set`.\n")
    for title, names in SHARED:
        taking = [(name, command) for name, command in commands if _takes(command, names)]
        heading = f"\n### {title}\n\n" if title else "\n"
        parts.append(f"{heading}For {', '.join(f'`{name}`' for name, _ in taking)}.\n")
        parts.extend(_table([one for one in taking[0][1].params if one.name in names]))
    return "".join(parts)


def _takes(command: Any, names: Sequence[str]) -> bool:
    return set(names) <= {param.name for param in command.params}


def _commands(group: Any) -> Iterator[tuple[str, Any]]:
    """Yield the commands by their full names, in the order of the help."""
    for name in (name for names in SECTIONS.values() for name in names):
        command = group.commands[name]
        if hasattr(command, "commands"):
            yield from ((f"{name} {below}", one) for below, one in command.commands.items())
        else:
            yield name, command


def _table(params: Sequence[Any]) -> Iterator[str]:
    rows = [(_typed(param), _help(param)) for param in params if param.help]
    if rows:
        yield "\n| argument or option | meaning |\n|---|---|\n"
    for typed, text in rows:
        yield f"| `{typed}` | {text} |\n"


def _typed(param: Any) -> str:
    if param.param_type_name == "argument":
        return _metavar(param).replace("|", "\\|")
    value = "" if param.is_flag else f" {_metavar(param)}"
    return (", ".join(param.opts) + value).replace("|", "\\|")


def _metavar(param: Any) -> str:
    return param.metavar or param.name.upper()


def _help(param: Any) -> str:
    has_default = isinstance(param.default, Path)
    return param.help.replace("|", "\\|") + (f" Default: `{param.default}`." if has_default else "")


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
    print(f"wrote {PAGE}")

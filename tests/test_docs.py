"""The documentation cannot lie: its commands exist, its Python runs, its generated pages are current."""

from __future__ import annotations

import json
import re
import runpy
import shlex
import subprocess
import sys
import textwrap
from contextlib import ExitStack
from pathlib import Path
from shutil import copy
from typing import Any

import pytest

from ragstone.acquire.readers import READERS
from ragstone.acquire.readers.names import LANGUAGES, SETTINGS
from ragstone.index import VECTOR_STORES
from ragstone.settings.load import ALIASES, parse_overrides

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
SHELLS = ("sh", "bash", "console", "shell")


def blocks(page: Path, *languages: str) -> list[tuple[int, str]]:
    """The fenced blocks in any of the languages: the line each begins at, and its text."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"^```(\w+)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, match.start(2)) + 1, match[2]) for match in found if match[1] in languages]


def commands(text: str) -> list[list[str]]:
    """The words after ``ragstone`` of each command in a block of shell, or in a script."""
    out = []
    for line in text.replace("\\\n", " ").splitlines():
        typed = line.strip().removeprefix("$ ")
        if not typed.startswith("ragstone "):
            continue
        lexer = shlex.shlex(typed, posix=True, punctuation_chars=True)
        lexer.whitespace_split, lexer.commenters = True, ""
        words = list(lexer)
        # A comment, a pipe, a redirection or a second command ends the first.
        end = next((i for i, word in enumerate(words) if re.match(r"#|[();<>|&]+$", word)), len(words))
        out.append(words[1:end])
    return out


SCRIPTS = [(page, text) for page in PAGES for _, text in blocks(page, *SHELLS)]
SCRIPTS += [(script, script.read_text(encoding="utf-8")) for script in sorted((ROOT / "examples").glob("*.sh"))]
DOCUMENTED = [
    pytest.param(words, id=f"{path.name}: {' '.join(words)}") for path, text in SCRIPTS for words in commands(text)
]


@pytest.mark.usefixtures("workdir")
@pytest.mark.parametrize("words", DOCUMENTED)
def test_documented_commands_exist(words: list[str]) -> None:
    """The command line is parsed as if it had been typed; nothing is run."""
    parse(words)


def test_commands_that_do_not_exist_are_noticed() -> None:
    for words in (["nothing"], ["ask", "Why?", "--nothing"], ["ask"], ["key", "nothing"]):
        with pytest.raises(Exception, match=r"(?i)no such|missing"):
            parse(words)


def parse(words: list[str]) -> None:
    import typer

    from ragstone.serve.cli import app as cli

    app = next(value for value in vars(cli).values() if isinstance(value, typer.Typer))
    group: Any = typer.main.get_command(app)
    with ExitStack() as stack:
        context = stack.enter_context(group.make_context("ragstone", list(words)))
        while hasattr(group, "commands"):  # a group in the group
            name, group, rest = group.resolve_command(context, [*context._protected_args, *context.args])
            context = stack.enter_context(group.make_context(name, rest, parent=context))


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: page.name)
def test_documented_python_runs(page: Path, workdir: Path) -> None:
    """All examples of a page, one after the other, beside a folder of documents."""
    (workdir / "docs").mkdir()
    for name in ("settings.md", "python.md"):
        (workdir / "docs" / name).write_bytes((ROOT / "docs" / name).read_bytes())
    namespace: dict[str, Any] = {"__name__": "example"}
    for line, code in blocks(page, "python"):
        # Blank lines before the code, so that a traceback names the line of the page.
        exec(compile("\n" * (line - 1) + code, str(page), "exec"), namespace)


def test_readme_installation_runs_when_pasted(workdir: Path) -> None:
    """All of "Install it" but the installation itself, typed into an empty folder beside some of our own pages."""
    (workdir / "docs").mkdir()
    for page in ("command-line.md", "http.md", "models.md", "sources.md", "trust.md"):
        copy(ROOT / "docs" / page, workdir / "docs")
    section = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## Install it\n")[2].partition("\n## ")[0]
    typed = commands(textwrap.dedent(section))
    assert [words[0] for words in typed] == ["add", "ask", "serve", "serve", "serve"]
    program = "from ragstone.serve.cli.app import main; main()"
    for words in typed:
        if words[0] == "serve":  # answers until it is stopped; its own tests start it
            parse(words)
            continue
        done = subprocess.run([sys.executable, "-c", program, *words], cwd=workdir, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert words[0] != "ask" or "removes documents that are gone" in done.stdout
    [code] = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    done = subprocess.run([sys.executable, "-c", code], cwd=workdir, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "removes documents that are gone" in done.stdout


MOVED = [
    code
    for line in (ROOT / "docs" / "moving.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ")
    for code in re.findall(r"`([^`]+)`", line.split("|")[2])
]
KINDS = re.compile(
    r"ragstone (?P<command>.+)|make (?P<target>.+)|(?P<method>GET|POST) (?P<route>.+)|(?P<alias>[A-Z_]{5,})(=.+)?"
    r"|(?P<setting>(?!ragstone)[a-z]+(\.[a-z0-9_]+)+)"
)


@pytest.mark.usefixtures("workdir")
@pytest.mark.parametrize("code", [code for code in MOVED if KINDS.fullmatch(code)])
def test_what_moves_has_its_place(code: str) -> None:
    """Commands are parsed; targets, endpoints, variables and settings are looked up."""
    found = KINDS.fullmatch(code)
    assert found
    if found["command"]:
        parse(shlex.split(found["command"]))
    elif found["target"]:
        assert f"\n{found['target']}:" in (ROOT / "Makefile").read_text(encoding="utf-8")
    elif found["route"]:
        paths = json.loads((ROOT / "docs" / "openapi.json").read_text(encoding="utf-8"))["paths"]
        assert found["method"].lower() in paths[found["route"]]
    elif found["alias"]:
        assert found["alias"] in ALIASES
    else:
        assert parse_overrides([f"{code}=x"])


@pytest.mark.parametrize(
    ("page", "tool"),
    [
        ("settings.md", "settings_table.py"),
        ("command-line.md", "command_line_page.py"),
        ("openapi.json", "openapi_page.py"),
        ("moving.md", "moving_page.py"),
    ],
)
def test_the_generated_pages_are_current(page: str, tool: str) -> None:
    render = runpy.run_path(str(ROOT / "tools" / tool))["render"]
    is_current = (ROOT / "docs" / page).read_text(encoding="utf-8") == render()
    assert is_current, f"docs/{page} is not what tools/{tool} writes; run: python tools/{tool}"


def test_readers_page_lists_every_suffix() -> None:
    page = (ROOT / "docs" / "readers.md").read_text(encoding="utf-8")
    # The page lists common suffixes of code. Pages of Confluence are no files.
    unlisted = {*LANGUAGES, *SETTINGS, ".confluence"}
    missing = [suffix for suffix in READERS if suffix not in unlisted and f"`{suffix}`" not in page]
    assert missing == [], "add a row for them to docs/readers.md"


def test_engines_page_lists_every_vector_store() -> None:
    page = (ROOT / "docs" / "engines.md").read_text(encoding="utf-8")
    missing = [name for name in VECTOR_STORES if f"| `{name}` |" not in page]
    assert missing == [], "add a row for them to docs/engines.md"


def test_pictures_fetch_nothing() -> None:
    for picture in (ROOT / "docs").rglob("*.svg"):
        # What begins with # is in the picture itself.
        fetching = r"""(?i)(href|src)\s*=\s*["']?(?![\s"'#])|url\([^#)]*:|@import|@font-face|<script"""
        found = re.search(fetching, picture.read_text("utf-8"))
        assert found is None, f"{picture.name}: {found}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        if not re.match(r"[a-z]+:", target):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_index_of_the_documentation_lists_every_page() -> None:
    listed = set(re.findall(r"\]\(([a-z-]+\.md)\)", (ROOT / "docs" / "README.md").read_text(encoding="utf-8")))
    assert listed == {page.name for page in (ROOT / "docs").glob("*.md")} - {"README.md"}


def test_moving_picture_is_small() -> None:
    assert (ROOT / "docs" / "demo.webp").stat().st_size < 1_000_000

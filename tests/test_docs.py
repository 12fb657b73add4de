"""The documentation cannot lie: its commands exist, its Python runs, its generated pages are current."""

from __future__ import annotations

import json
import re
import runpy
import shlex
import textwrap
import tomllib
from contextlib import ExitStack
from pathlib import Path
from shutil import copy, copytree
from typing import Any

import pytest

import ragstone
from ragstone import Ragstone, __version__
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


HOTEL = "Alderwren pays for hotels up to £135 a night"
PYTHON_WRITES = {
    "README.md": (HOTEL,),
    "python.md": (
        "documents added, 0 unchanged",
        f"{HOTEL}, and up to £190 a night in London. [1]",
        "    Travel policy examples/alderwren/people/travel-policy-2026.md 292 371",
        'no answer: I couldn\'t find an answer to "How tall is the Eiffel Tower?"',
        "in London. [1] supported",
        "Morag Sinclair and Tomasz Wolny founded the company in 2011",
        "The gate opens at nine. [1]",
        "True\n['pay.md']\n",
        "there is no knowledge base at nowhere",
    ),
}
COMMANDS_WRITE: dict[tuple[str, str], tuple[str | None, ...]] = {
    # What each command of a section writes; None for what runs until it is stopped, or needs a model.
    ("README.md", "## Install it"): ("unchanged", HOTEL, None, None, None),
    ("docs/command-line.md", "# The command line"): (
        "unchanged", HOTEL, HOTEL, HOTEL, "examples/alderwren/people/travel-policy-2026.md", HOTEL, HOTEL, "switched",
    ),
    ("docs/trust.md", "## Citations are spans"): (HOTEL, HOTEL),
    ("docs/models.md", "## Conversations"): (HOTEL, "up to £190 a night in London", "trip", "no stored conversations"),
}  # fmt: skip


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the documents of the demonstration, as a checkout has them, and a knowledge base of them."""
    folder = tmp_path_factory.mktemp("checkout")
    copytree(ROOT / "examples" / "alderwren", folder / "examples" / "alderwren")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        with Ragstone(".ragstone", settings=["acquire.ocr=off"]) as kb:
            assert kb.add("examples/alderwren").added == 26
    return folder


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: page.name)
def test_documented_python_runs(
    page: Path, workdir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All examples of a page, one after the other, beside a folder of documents."""
    monkeypatch.setenv("RAGSTONE_ACQUIRE__OCR", "off")  # `test_demo.py` reads the scans
    copytree(ROOT / "examples" / "alderwren", workdir / "examples" / "alderwren")
    (workdir / "docs").mkdir()
    for name in ("settings.md", "python.md"):
        copy(ROOT / "docs" / name, workdir / "docs")
    namespace: dict[str, Any] = {"__name__": "example"}
    for line, code in blocks(page, "python"):
        # Blank lines before the code, so that a traceback names the line of the page.
        exec(compile("\n" * (line - 1) + code, str(page), "exec"), namespace)
    written = capsys.readouterr().out
    for phrase in PYTHON_WRITES.get(page.name, ()):
        assert phrase in written


@pytest.mark.parametrize(("page", "heading"), COMMANDS_WRITE, ids=lambda name: name.rpartition("/")[2])
def test_documented_commands_write_what_they_promise(
    page: str,
    heading: str,
    indexed: Path,
    workdir: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    from ragstone.serve.cli.app import run

    copytree(indexed, workdir, dirs_exist_ok=True)
    monkeypatch.setenv("RAGSTONE_ACQUIRE__OCR", "off")
    text = (ROOT / page).read_text(encoding="utf-8")
    section = re.split(r"^#{1,2} ", text.partition(f"{heading}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
    for words, phrase in zip(commands(textwrap.dedent(section)), COMMANDS_WRITE[page, heading], strict=True):
        if phrase is None:
            parse(words)
            continue
        capfd.readouterr()
        assert run(words) == 0, words
        assert phrase in " ".join(capfd.readouterr().out.split()), words


def test_documented_questions_are_measured(indexed: Path, workdir: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from ragstone.serve.cli.app import run

    copytree(indexed, workdir, dirs_exist_ok=True)
    [(_, questions)] = blocks(ROOT / "docs" / "measuring.md", "csv")
    (workdir / "questions.csv").write_text(questions, encoding="utf-8")
    assert run(("eval", "questions.csv")) == 0
    written = " ".join(capfd.readouterr().out.split())
    assert "3 questions, 2 judged" in written
    assert "recall@5 1.0000" in written
    assert "refusal recall 1.0000 1 of 1" in written


INSTALLED = re.findall(
    r"pip install (?:-\S+ )*'([^']+)'",
    "".join(page.read_text(encoding="utf-8") for page in [*PAGES, ROOT / "training" / "README.md"]),
)


@pytest.mark.parametrize("requirement", sorted(set(INSTALLED)))
def test_documented_installation_works_in_a_checkout(requirement: str) -> None:
    extras = re.fullmatch(r"\.\[([a-z,-]+)\]", requirement) or re.fullmatch(
        rf"\./ragstone-{re.escape(__version__)}-py3-none-any\.whl\[([a-z,-]+)\]", requirement
    )
    assert extras, "not on an index yet: write '.[extra]'"
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(extras[1].split(",")) <= declared.keys()


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


def test_every_option_names_its_value() -> None:
    assert " None`" not in (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")


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


def test_python_page_lists_every_public_name() -> None:
    table = (ROOT / "docs" / "python.md").read_text(encoding="utf-8").partition("\n## Public names\n")[2]
    rows = [row.split("|")[1] for row in table.splitlines() if row.startswith("| `")]
    assert sorted(re.findall(r"`(\w+)`", " ".join(rows))) == sorted(ragstone.__all__)


def test_index_of_the_documentation_lists_every_page() -> None:
    listed = set(re.findall(r"\]\(([a-z-]+\.md)\)", (ROOT / "docs" / "README.md").read_text(encoding="utf-8")))
    assert listed == {page.name for page in (ROOT / "docs").glob("*.md")} - {"README.md"}


def test_moving_picture_is_small() -> None:
    assert (ROOT / "docs" / "demo.webp").stat().st_size < 1_000_000


def test_the_guide_to_the_code_names_every_module_of_the_engine() -> None:
    told = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    modules = {path.name for path in (ROOT / "ragstone/engine").glob("*.py")} - {"__init__.py"}
    assert not {name for name in modules if f"`{name}`" not in told and f"engine/{name}`" not in told}

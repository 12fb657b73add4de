"""House rules that no other tool checks, read from the source itself."""

from __future__ import annotations

import ast
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import ragstone

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "ragstone").rglob("*.py"))
LIGHT_IMPORT = "import sys, ragstone; print(*sys.modules)"


def swallowed_keyword(node: ast.AST) -> str:
    """A misspelt keyword must be an error, which ``**kwargs`` would swallow."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_") and node.args.kwarg:
        return f"{node.name} takes **{node.args.kwarg.arg}"
    return ""


def unsafe_use(node: ast.AST) -> str:
    names = set()
    if isinstance(node, ast.Import):
        names = {alias.name.partition(".")[0] for alias in node.names}
    elif isinstance(node, ast.ImportFrom):
        names = {(node.module or "").partition(".")[0]}
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        names = {node.func.id}
    unsafe = names & {"pickle", "cPickle", "dill", "joblib", "marshal", "shelve", "eval", "exec"}
    return f"uses {sorted(unsafe)}" if unsafe else ""


def score_by_truth(node: ast.AST) -> str:
    """``score or default`` takes 0.0 for missing; scores are tested with ``is None``."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
        for value in node.values[:-1]:
            name = value.attr if isinstance(value, ast.Attribute) else getattr(value, "id", "")
            if "score" in name.lower():
                return f"tests {name} by its truth"
    return ""


RULES = (swallowed_keyword, unsafe_use, score_by_truth)


@pytest.fixture(scope="module")
def broken() -> dict[object, list[str]]:
    """The places that break each rule, found in one pass: all trees together would take most of a gigabyte."""
    places: dict[object, list[str]] = {rule: [] for rule in (*RULES, ast.get_docstring)}
    for path in SOURCES:
        module, tree = path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))
        if not ast.get_docstring(tree):
            places[ast.get_docstring].append(module)
        for node in ast.walk(tree):
            for rule in RULES:
                if said := rule(node):
                    places[rule].append(f"{module}:{getattr(node, 'lineno', 0)} {said}")
    return places


def test_the_public_names_are_few_and_exist() -> None:
    assert len(ragstone.__all__) < 20
    for name in ragstone.__all__:
        assert getattr(ragstone, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = ragstone.nothing  # pyright: ignore[reportAttributeAccessIssue]


def test_importing_the_package_stays_light() -> None:
    run = subprocess.run([sys.executable, "-c", LIGHT_IMPORT], capture_output=True, text=True, check=True, cwd=ROOT)
    heavy = {"httpcore2", "numpy", "onnxruntime", "pydantic", "tantivy", "tokenizers", "typer"}
    assert not heavy & set(run.stdout.split())


def test_every_module_says_what_it_is_for(broken: dict[object, list[str]]) -> None:
    assert broken[ast.get_docstring] == []


def test_no_module_is_longer_than_600_lines() -> None:
    """A longer one is split where a second subject begins."""
    lines = {path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    assert {name: count for name, count in lines.items() if count > 600} == {}


def test_public_functions_name_their_parameters(broken: dict[object, list[str]]) -> None:
    assert broken[swallowed_keyword] == []


def test_nothing_is_pickled_or_evaluated(broken: dict[object, list[str]]) -> None:
    assert broken[unsafe_use] == []


def test_a_score_of_zero_is_a_score(broken: dict[object, list[str]]) -> None:
    assert broken[score_by_truth] == []


def test_the_changelog_knows_the_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## \[([^]]+)\]", changelog, flags=re.MULTILINE)
    assert versions[0] == ragstone.__version__


def test_tests_cannot_reach_the_network() -> None:
    """Of the guard in ``conftest.py``: an address set aside for documentation is refused, loopback is not."""
    with socket.socket() as outside, pytest.raises(AssertionError, match=r"192\.0\.2\.1"):
        outside.connect(("192.0.2.1", 80))
    with pytest.raises(AssertionError, match=r"example\.org"):
        socket.getaddrinfo("example.org", 80)
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()[:2]):
        pass

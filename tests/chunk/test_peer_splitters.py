"""The test cases of langchain-text-splitters, read from their own file, against our strategies.

Run are the cases whose promise we share:

- ``RecursiveCharacterTextSplitter`` with its default separators, against ``recursive``;
- ``CharacterTextSplitter`` on spaces, against ``by_sentence``, which packs words where a sentence is too long;
- the cases of both with a start index, which must be the start of our spans.

Not run are cases about what we do not offer: separators of the caller's choosing (regular expressions, "X",
"."), separators thrown away or glued to the end, token counting, lists of documents, code, HTML, JSON, and
Markdown headers; nor ``test_character_text_splitter_longer_words`` and its like, which leave a chunk longer
than the size where we promise never to.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone.chunk.text import by_sentence, recursive

STRATEGIES = {"RecursiveCharacterTextSplitter": recursive, "CharacterTextSplitter": by_sentence}
SHARED = [
    "test_character_text_splitter",
    "test_character_text_splitter_separtor_empty_doc",
    "test_character_text_splitter_long",
    "test_character_text_splitter_short_words_first",
    "test_character_text_splitter_no_separator_in_text",
    "test_character_text_splitter_handle_chunksize_equal_to_chunkoverlap",
    "test_character_text_splitter_empty_input",
    "test_character_text_splitter_whitespace_only",
    "test_iterative_text_splitter",
]


@pytest.fixture(scope="module")
def peers(data_dir: Path) -> dict[str, ast.FunctionDef]:
    file = data_dir / "peer_suites" / "langchain_text_splitters" / "tests" / "unit_tests" / "test_text_splitters.py"
    if not file.is_file():
        pytest.skip(f"the test cases of langchain-text-splitters are not at {file}")
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def read_options(call: ast.Call) -> tuple[str, dict[str, object]]:
    assert isinstance(call.func, ast.Name)
    return call.func.id, {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg}


def is_splitter(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in STRATEGIES


def read_assignments(function: ast.FunctionDef) -> Iterator[tuple[str, object]]:
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id="text" | "expected_output" as name)], value=value):
                yield name, ast.literal_eval(value)
            case ast.AnnAssign(target=ast.Name(id="expected_output" as name), value=ast.expr() as value):
                yield name, ast.literal_eval(value)


@pytest.mark.parametrize("name", SHARED)
def test_matches_peer_on_text(peers: dict[str, ast.FunctionDef], name: str):
    values = dict(read_assignments(peers[name]))
    kind, options = next(read_options(node) for node in ast.walk(peers[name]) if is_splitter(node))
    whole, size, overlap = str(values["text"]), int(options["chunk_size"]), int(options["chunk_overlap"])
    got = [span.of(whole) for span in STRATEGIES[kind](whole, size, min(overlap, size - 1))]
    assert got == values["expected_output"]


def test_matches_peer_start_index(peers: dict[str, ast.FunctionDef]):
    (decorator,) = peers["test_create_documents_with_start_index"].decorator_list
    assert isinstance(decorator, ast.Call)
    assert isinstance(decorator.args[1], ast.List)
    cases = [case.elts for case in decorator.args[1].elts if isinstance(case, ast.Tuple)]
    assert len(cases) == 2
    for call, text, documents in cases:
        kind, options = read_options(call)
        whole = ast.literal_eval(text)
        spans = STRATEGIES[kind](whole, options["chunk_size"], options["chunk_overlap"])
        expected = [read_options(document)[1] for document in documents.elts]
        assert [span.of(whole) for span in spans] == [document["page_content"] for document in expected]
        assert [{"start_index": span.start} for span in spans] == [document["metadata"] for document in expected]

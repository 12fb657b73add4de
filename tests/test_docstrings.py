"""The examples in the docstrings of public names and of replaceable components, and the tree of errors."""

from __future__ import annotations

import doctest
import re
import sys
from pathlib import Path

import pytest

import ragstone
from ragstone.core import errors, protocols, source
from ragstone.index.follow import protocol

PUBLIC = [ragstone, *(getattr(ragstone, name) for name in ragstone.__all__)]
REPLACEABLE = [protocols.ChatModel, protocols.PlainEmbedder, protocols.Reranker, source.Source, protocol.VectorStore]
"""What a setting can name; docs/extend.md lists them."""


@pytest.mark.parametrize("thing", [*PUBLIC, *REPLACEABLE], ids=lambda thing: thing.__name__)
def test_docstring_has_a_working_example(thing: type, workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parent.parent / "examples")
    (workdir / "docs").mkdir()
    (workdir / "docs" / "pump.md").write_text("# Pump\n\nThe pump in hall three runs at 4 bar. It was built in 1987.\n")
    module = sys.modules[getattr(thing, "__module__", thing.__name__)]
    [found] = doctest.DocTestFinder(recurse=False).find(thing, module=module)
    assert found.examples, "show how it is used"
    output: list[str] = []
    doctest.DocTestRunner().run(found, out=output.append)
    assert not output, "".join(output)


def test_docstring_draws_the_tree_of_errors() -> None:
    drawn = [
        (len(match[1]) // 4, match[2]) for match in re.finditer(r"^    ([│ ├└─]*)(\w+)", errors.__doc__ or "", re.M)
    ]

    def tree(root: type, depth: int) -> list[tuple[int, str]]:
        below = [one for one in root.__subclasses__() if one.__module__ == errors.__name__]
        return [(depth, root.__name__), *(line for one in below for line in tree(one, depth + 1))]

    assert sorted(drawn) == sorted(tree(errors.RagstoneError, 0))

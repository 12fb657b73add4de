"""No code outside ``ragstone/language`` recognises a text by words of a language."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import ragstone
from ragstone.language import languages
from ragstone.language.files import table
from ragstone.language.words import written_in

ROOT = Path(ragstone.__file__).parent
MOST = 2
"""Words of one language that a regular expression or a list may hold."""
FORMATS = {
    "acquire/crawl/links.py": "names of HTML elements",
    "acquire/readers/pdf/title.py": "what programs leave in titles",
    "acquire/readers/text/code.py": "the header of a private key",
    "acquire/readers/text/definitions.py": "keywords of programming languages",
    "acquire/readers/text/sql.py": "keywords of SQL",
    "acquire/readers/web/confluence.py": "names of elements",
    "acquire/readers/web/html.py": "names of HTML elements",
    "acquire/readers/web/main_content.py": "names of HTML elements and classes",
    "catalog/location.py": "names of files",
    "filings/choice.py": "filings, which are in English",
    "filings/cover.py": "filings, which are in English",
    "question/tasks.py": "prompts of chat programs",
    "respond/tables/features.py": "names of features",
    "respond/writing/told.py": "the first line that prompts ask for",
    "serve/http/plain_words.py": "messages of Ragstone itself",
    "services/dialect.py": "messages of services",
    "services/lenient_json.py": "constants of JSON and Python",
    "services/reply_text.py": "marks of models",
    "services/too_long.py": "messages of services",
    "services/unwrapped.py": "names of fields",
}
"""Modules that read formats and protocols, whose words are in no language."""
QUESTIONS = {
    "filings/named.py",
    "question/asks.py",
    "question/named.py",
    "question/requirements.py",
    "respond/tables/asked.py",
    "respond/tables/calculate.py",
    "respond/tables/dates.py",
}
"""Modules that read questions and still have words of their own; none may join them."""
_SYNTAX = re.compile(r"\(\?(?:P<\w+>|P=\w+\)|<?[=!]|>|[a-zA-Z-]*[:)])|\\[a-zA-Z]|\[[^\]]*\]|\{[^}]*\}")
_WORD = re.compile(r"[^\W\d_]{3,}")


def vocabulary(language: str) -> frozenset[str]:
    """Return all words by which texts of a language are recognised."""
    entries = {
        key: entry for key, entry in table(language).items() if key not in ("message", "phrases", "replies", "talk")
    }
    return frozenset(word.lower() for text in texts(entries) for word in _WORD.findall(text))


def texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, some in value.items():
            yield from (*texts(key), *texts(some))
    elif isinstance(value, list):
        for one in value:
            yield from texts(one)


def function_words(language: str) -> frozenset[str]:
    """Return the words of a language that name nothing, which no list of keys or settings holds."""
    words = written_in(language)
    return frozenset(words.stop | words.question_words | words.numbers.keys() | words.months.keys())


def in_patterns(tree: ast.AST) -> Iterator[tuple[int, set[str]]]:
    """Yield the line and the words of each regular expression."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re.") and node.args:
            strings = (str(one.value) for one in ast.walk(node.args[0]) if isinstance(one, ast.Constant))
            yield node.lineno, words_in(_SYNTAX.sub(" ", one) for one in strings)


def in_lists(tree: ast.AST) -> Iterator[tuple[int, set[str]]]:
    """Yield the line and the words of each list."""
    for node in ast.walk(tree):
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            strings = (one.value for one in node.elts if isinstance(one, ast.Constant))
            yield node.lineno, words_in(one for one in strings if isinstance(one, str) and _WORD.fullmatch(one))


def words_in(several: Iterator[str]) -> set[str]:
    return {word.lower() for text in several for word in _WORD.findall(text)}


def foreign(module: str, tree: ast.AST) -> Iterator[str]:
    """Yield the places of a module with more words of a language than `MOST`."""
    places = ((in_patterns, VOCABULARY), (in_lists, FUNCTION_WORDS))
    for find, known in places:
        for line, words in find(tree):
            for language, own in known.items():
                if len(both := words & own) > MOST:
                    yield f"{module}:{line} {language}: {' '.join(sorted(both))}"


VOCABULARY = {language: vocabulary(language) for language in languages()}
FUNCTION_WORDS = {language: function_words(language) for language in languages()}


def test_words_of_languages_stand_in_their_files() -> None:
    found: list[str] = []
    for path in sorted(ROOT.rglob("*.py")):
        module = path.relative_to(ROOT).as_posix()
        if not module.startswith("language/") and module not in FORMATS.keys() | QUESTIONS:
            found += foreign(module, ast.parse(path.read_text(encoding="utf-8")))
    assert found == []


def test_finds_words_of_a_language() -> None:
    tree = ast.parse('import re\nA = re.compile(r"\\b(?:januar|februar|märz)\\b")\nB = ["the", "and", "which"]')
    assert len(list(foreign("module", tree))) == 2

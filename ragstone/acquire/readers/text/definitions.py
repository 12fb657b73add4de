"""Where functions, classes and other definitions begin in source code.

Python is parsed. In other languages a definition is a line that looks like one, which needs no grammar of each
language: a definition that is missed stays in the section above it.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from functools import cache

from ragstone.core.frozen import frozen

_LONGEST = 300
"""Characters of a line at most: people write no longer definitions, and patterns stay fast."""
_MODIFIERS = (
    r"(?:(?:public|private|protected|internal|static|final|abstract|sealed|partial|virtual|override|async|open"
    r"|export|default|declare|extern|inline|constexpr|unsafe|suspend|data|case|pub(?:\([\w:]+\))?|const)\s+)*"
)
_CALLED = r"(?!(?:if|for|while|switch|catch|return|else|do|new|throw|case|using|lock|sizeof|defined|function)\b)"
_TYPES = (
    rf"^\s*{_MODIFIERS}(?:class|interface|enum|record|struct|trait|object|namespace|module|protocol|extension)"
    r"\s+(?:class\s+)?(?P<name>[\w.:]+)(?!.*;\s*$)"
)
_C_FUNCTION = rf"^(?![#/*}}])(?:[\w:<>,&*~\[\]\"]+\s+)+[&*]*{_CALLED}(?P<name>[\w:~]+)\s*\([^;]*$"
_METHOD = (
    r"^[ \t]+(?:(?:public|private|protected|internal|static|final|abstract|virtual|override|async|synchronized)"
    rf"\s+)+(?:[\w<>\[\],.?]+\s+)*{_CALLED}(?P<name>\w+)\s*\([^;]*$"
)
_PATTERNS = {
    "python": [r"^\s*(?:async\s+)?(?:def|class)\s+(?P<name>\w+)"],
    "javascript": [
        rf"^{_MODIFIERS}function\s*\*?\s*(?P<name>[\w$]+)", _TYPES,
        r"^(?:export\s+)?(?:const|let|var)\s+(?P<name>[\w$]+)[^=]*=\s*(?:async\s*)?(?:function\b|\([^)]*\)|\w+\s*=>)",
        r"^(?:export\s+)?(?:declare\s+)?type\s+(?P<name>\w+)",
        r"^(?: {2}| {4}|\t)(?!.*(?:=>|\bfunction\b))(?:(?:public|private|protected|static|async|get|set|readonly)\s+)*"
        rf"{_CALLED}"
        r"(?P<name>[\w$#]+)\s*\([^;]*\{\s*$",
    ],
    "c": [_C_FUNCTION, _TYPES, r"^typedef\s+(?:struct|enum|union)\s+(?P<name>\w+)"],
    "java": [_TYPES, _METHOD],
    "kotlin": [_TYPES, rf"^\s*{_MODIFIERS}fun\s+(?:<[^>]*>\s*)?(?P<name>[\w.]+)"],
    "swift": [_TYPES, rf"^\s*{_MODIFIERS}func\s+(?P<name>\w+)"],
    "scala": [_TYPES, r"^\s*(?:override\s+)?def\s+(?P<name>\w+)"],
    "php": [_TYPES, rf"^\s*{_MODIFIERS}function\s+&?(?P<name>\w+)"],
    "go": [r"^func\s+(?:\([^)]*\)\s*)?(?P<name>\w+)", r"^type\s+(?P<name>\w+)"],
    "rust": [
        rf"^\s*{_MODIFIERS}(?:async\s+)?(?:extern\s+\"C\"\s+)?fn\s+(?P<name>\w+)",
        r"^\s*(?:pub(?:\([\w:]+\))?\s+)?(?:struct|enum|trait|union|mod)\s+(?P<name>\w+)(?!.*;\s*$)",
        r"^(?:unsafe\s+)?impl(?:<[^>]*>)?\s+(?P<name>[^{]+?)\s*(?:\{|where|$)", r"^macro_rules!\s+(?P<name>\w+)",
    ],
    "ruby": [r"^\s*(?:class|module|def)\s+(?P<name>[\w.:?!]+)"],
    "shell": [r"^(?:function\s+)?(?P<name>[\w:-]+)\s*\(\)", r"^function\s+(?P<name>[\w:-]+)"],
    "powershell": [r"^(?i:function)\s+(?P<name>[\w:-]+)", _TYPES],
    "sql": [
        r"(?i)^\s*create\s+(?:or\s+replace\s+)?(?:(?:temp|temporary|materialized|unique|global)\s+)*"
        r"(?:table|view|function|procedure|trigger|index|type|schema|package)\s+(?:if\s+not\s+exists\s+)?"
        r"(?P<name>[\w.\"`\[\]]+)"
    ],
    "lua": [r"^\s*(?:local\s+)?function\s+(?P<name>[\w.:]+)"],
    "perl": [r"^\s*(?:sub|package)\s+(?P<name>[\w:]+)"],
    "r": [r"^(?P<name>[\w.]+)\s*(?:<-|=)\s*function\b"],
    "julia": [r"^\s*(?:function|macro|module|(?:mutable\s+)?struct)\s+(?P<name>[\w.!]+)"],
    "matlab": [r"^\s*(?:function|classdef)\b(?:[^=(]*=)?\s*(?P<name>\w+)"],
    "elixir": [r"^\s*(?:defmodule|defp?|defmacro)\s+(?P<name>[\w.?!]+)"],
    "fortran": [r"(?i)^\s*(?:(?:pure|recursive|elemental)\s+)*(?:subroutine|function|module|program)\s+(?P<name>\w+)"],
    "vb": [r"(?i)^\s*(?:(?:public|private|shared)\s+)*(?:sub|function|class|module)\s+(?P<name>\w+)"],
    "protobuf": [r"^\s*(?:message|service|enum)\s+(?P<name>\w+)"],
    "cmake": [r"(?i)^(?:function|macro)\s*\(\s*(?P<name>\w+)"],
    "ini": [r"^\[+(?P<name>[^\]\n]+)\]"],
}  # fmt: skip
_LIKE = {
    "typescript": "javascript", "cpp": "c", "cuda": "c", "csharp": "java", "dart": "java", "toml": "ini",
}  # fmt: skip
_ATTACHED = re.compile(r"\s*(?:#(?!include|define|if|endif|else|pragma)|//|/\*|\*|--|@|\[\w[^\]]*\]\s*$|template\s*<)")
"""A line that belongs to the definition below it: a comment, a decorator or an attribute."""
_BODY_WITHIN = 4
"""Lines after the head of a C function in which its body must begin; a declaration has none."""


@frozen
class Definition:
    """The definition of a name. It begins at ``line``, counted from 0, comments and decorators above it included.

    ``level`` is 1 for a definition at the margin and 2 for one inside another.
    """

    line: int
    level: int
    name: str


def find(text: str, language: str) -> list[Definition]:
    """Return the definitions of a source file in order, at most one for each line."""
    lines = text.split("\n")
    found = _of_python(text, lines) if language == "python" else None
    named = _looking_like(lines, language) if found is None else found
    definitions: dict[int, Definition] = {}
    for one in sorted(named, key=lambda one: one.line):
        first = _with_comments(lines, one.line, floor=max(definitions, default=-1) + 1)
        definitions.setdefault(first, Definition(line=first, level=one.level, name=one.name))
    return [*definitions.values()]


def _of_python(text: str, lines: list[str]) -> list[Definition] | None:
    """Return the functions, classes and methods of Python code; None if it cannot be parsed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as those of invalid escapes
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    # The parser also ends lines at form feeds, which other programs do not count.
    return [*_defined(tree, 1)] if text.count("\f") == 0 and len(lines) > 0 else None


def _defined(node: ast.Module | ast.ClassDef, level: int) -> Iterator[Definition]:
    for inner in node.body:
        if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = min([inner.lineno, *(one.lineno for one in inner.decorator_list)])
            yield Definition(line=first - 1, level=level, name=inner.name)
            if isinstance(inner, ast.ClassDef) and level == 1:
                yield from _defined(inner, level + 1)


def _looking_like(lines: list[str], language: str) -> Iterator[Definition]:
    language = _LIKE.get(language, language)
    for number, line in enumerate(lines):
        if not line.strip() or len(line) > _LONGEST:
            continue
        match = next((found for pattern in _compiled(language) if (found := pattern.match(line))), None)
        if match is None or (language == "c" and not _has_body(lines, number)):
            continue
        yield Definition(line=number, level=1 + line[:1].isspace(), name=" ".join(match["name"].split()))


def _has_body(lines: list[str], number: int) -> bool:
    """Return whether a brace opens in this line or the next ones, before any semicolon."""
    head = "".join(line[:_LONGEST] for line in lines[number : number + _BODY_WITHIN])
    brace, semicolon = head.find("{"), head.find(";")
    return brace >= 0 and (semicolon < 0 or brace < semicolon)


def _with_comments(lines: list[str], line: int, floor: int) -> int:
    while line > floor and _ATTACHED.match(lines[line - 1][:_LONGEST]):
        line -= 1
    return line


@cache
def _compiled(language: str) -> list[re.Pattern[str]]:
    return [re.compile(pattern) for pattern in _PATTERNS.get(language, ())]

"""Draft questions for an evaluation from documents, to be corrected by people who know them.

By rules: a heading that is a question, a heading that says how to do something, a sentence that defines, a cell of a
table, and a section. Each draft has the exact words that answer it. Questions without an answer ask a row of one table
for a column of another, or a document for the heading of another, if no text mentions both. Drafts share the words of
the documents, so they are easier than the questions of people.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from itertools import islice, zip_longest
from pathlib import Path

from ragstone.core.frozen import frozen
from ragstone.core.headings import is_question
from ragstone.core.naming import file_name
from ragstone.core.protocols import SentenceSplitter
from ragstone.core.records import Chunk, Document, Mark
from ragstone.core.table import table_of
from ragstone.language import drafts, lexicon

COLUMNS = ("question", "source", "answerable", "lang", "kind", "evidence")
_LONGEST = 600
"""Characters of a section that are the evidence of its question."""
_SHORTEST = 40
_MOST_WORDS = 6
"""Words of a subject, a row or a heading that a question repeats."""
_CELLS = 6
"""Cells of a table that are asked for."""
_WORD = re.compile(r"\w{3,}")


@frozen
class Drafted:
    """A drafted question; ``source`` is a document id and ``evidence`` its exact words, both empty if unanswerable."""

    question: str
    kind: str
    lang: str = ""
    source: str = ""
    evidence: str = ""

    @property
    def is_answerable(self) -> bool:
        return bool(self.source)


@frozen
class Material:
    """A document and its chunks."""

    document: Document
    chunks: Sequence[Chunk]

    @property
    def lang(self) -> str:
        return str(self.document.metadata.get("language", ""))


def draft(material: Sequence[Material], split: SentenceSplitter, count: int, unanswerable: int) -> list[Drafted]:
    """Return at most ``count`` answerable questions, spread over the documents, then the unanswerable ones.

    A question that several documents or rows would answer is left out.
    """
    by_file = defaultdict[str, list[Drafted]](list)
    for number, one in enumerate(material):
        by_file[one.document.id.partition("#")[0]] += _of_document(one, split, number)
    answered = spread(_unambiguous(by_file), count)
    return [*answered, *islice(_unanswerable(material), unanswerable)]


def spread(by_file: Iterable[Sequence[Drafted]], count: int) -> list[Drafted]:
    """Return at most ``count`` drafts: one of each document in turn, and of a document one of each kind in turn."""
    turns = deque(deque(_alternated(drafted)) for drafted in by_file if drafted)
    chosen = list[Drafted]()
    while turns and len(chosen) < count:
        waiting = turns.popleft()
        chosen.append(waiting.popleft())
        if waiting:
            turns.append(waiting)
    return chosen


def write(drafted: Sequence[Drafted], path: Path) -> None:
    """Write drafts as a CSV that `read_questions` reads; an existing file is not replaced.

    Raises:
        FileExistsError: there is such a file, which may have been corrected.
    """
    with path.open("x", encoding="utf-8", newline="") as file:
        file.write(as_csv(drafted))


def as_csv(drafted: Sequence[Drafted]) -> str:
    """Return drafts as a CSV that `read_questions` reads."""
    out = StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for one in drafted:
        answerable = "yes" if one.is_answerable else "no"
        writer.writerow((one.question, one.source, answerable, one.lang, one.kind, one.evidence))
    return out.getvalue()


def _of_document(one: Material, split: SentenceSplitter, number: int) -> Iterator[Drafted]:
    yield from _cells(one)
    fields = list(_fields(one))
    yield from fields[number % len(fields) :][:1] if fields else ()
    yield from _definitions(one, split)
    yield from _sections(one)


def _sections(one: Material) -> Iterator[Drafted]:
    """Ask for what stands below a heading."""
    words, text = drafts(one.lang), one.document.text
    for number, (mark, body) in enumerate(_bodies(one.document)):
        evidence, heading = _beginning(text[body.start : body.stop]), mark.label.strip()
        if len(evidence) < _SHORTEST:
            continue
        if is_question(heading):
            yield _drafted(one, heading, "faq", evidence)
        elif words.how_heading and (how := re.fullmatch(words.how_heading, heading, re.IGNORECASE)):
            yield _drafted(one, words.how.format(task=how["task"]), "how_to", evidence)
        elif len(heading.split()) <= _MOST_WORDS and (number > 0 or mark.level > 1):  # no title
            yield _drafted(one, words.section.format(heading=_in_sentence(heading)), "section", evidence)


def _definitions(one: Material, split: SentenceSplitter) -> Iterator[Drafted]:
    """Ask what something is that a sentence defines."""
    words = drafts(one.lang)
    defines = re.compile(rf"(?P<subject>[^\W\d_][^,;:.()|]*?)\s+{words.defines}\s+\w")
    openings = lexicon().openings
    for _, body in _bodies(one.document):
        text = one.document.text[body.start : body.stop]
        for span in split(text):
            sentence = text[span.start : span.end]
            found = defines.match(sentence)
            if found is None or "|" in sentence or len(sentence) < _SHORTEST or openings.match(sentence):
                continue
            subject = found["subject"]
            if subject[0].isupper() and len(subject.split()) <= _MOST_WORDS:
                asked = words.definition.format(subject=_in_sentence(subject))
                yield _drafted(one, asked, "definition", sentence)


def _cells(one: Material) -> Iterator[Drafted]:
    """Ask for cells of tables, one of each row, in turn from each column."""
    words = drafts(one.lang)
    for chunk in one.chunks:
        table = table_of(chunk)
        for number, row in enumerate(table.rows[:_CELLS] if table else ()):
            cells = [cell for cell in row.cells[1:] if cell.header and cell.label]
            if not cells or len(row.label.split()) > _MOST_WORDS:
                continue
            cell = cells[number % len(cells)]
            caption = f" ({table.caption})" if table and 0 < len(table.caption.split()) <= _MOST_WORDS else ""
            asked = words.cell.format(column=cell.head, row=f"{' '.join(cell.label)}{caption}")
            yield _drafted(one, asked, "cell", chunk.text[row.span.start : row.span.end])


def _fields(one: Material) -> Iterator[Drafted]:
    """Ask for fields of a row of a data file."""
    words, title = drafts(one.lang), one.document.title
    if "#" not in one.document.id or not title:
        return
    for column, value in one.document.metadata.items():
        evidence = f"{column}: {value}"
        if str(value) != title and evidence in one.document.text:
            yield _drafted(one, words.cell.format(column=column, row=title), "cell", evidence)


def _unanswerable(material: Sequence[Material]) -> Iterator[Drafted]:
    """Ask rows for columns of other tables, and documents for headings of others, that no text mentions together."""
    texts = [one.document.text.casefold() for one in material]
    rows, headings = list[tuple[Material, str, list[str]]](), list[tuple[Material, str]]()
    for one in material:
        headings += [(one, mark.label) for mark, _ in _bodies(one.document) if 0 < len(mark.label.split()) <= 4]
        for chunk in one.chunks:
            if table := table_of(chunk):
                columns = [" ".join(path) for path in table.columns[1:] if path]
                rows += [(one, row.label, columns) for row in table.rows[:2]]
    turns = zip_longest(_swapped_columns(rows, texts), _swapped_headings(headings))
    seen = set[str]()
    for one in (part for pair in turns for part in pair if part is not None):
        if one.question not in seen:
            seen.add(one.question)
            yield one


def _swapped_columns(rows: list[tuple[Material, str, list[str]]], texts: Sequence[str]) -> Iterator[Drafted]:
    for place, (one, label, own) in enumerate(rows):
        for other, _, columns in rows[place + 1 :] + rows[:place]:
            column = next((column for column in columns if _is_apart(label, column, texts)), "")
            if column and column not in own and other.lang == one.lang and _WORD.search(label):
                asked = drafts(one.lang).cell.format(column=column, row=label)
                yield Drafted(question=asked, kind="swapped", lang=one.lang)
                break


def _swapped_headings(headings: list[tuple[Material, str]]) -> Iterator[Drafted]:
    for place, (other, heading) in enumerate(headings):
        for one, _ in headings[place + 1 :] + headings[:place]:
            title = one.document.title or file_name(one.document.id)
            if (
                one.lang == other.lang
                and heading == _in_sentence(heading)
                and _is_apart(title, heading, [f"{title} {one.document.text}".casefold()])
            ):
                asked = drafts(one.lang).elsewhere.format(title=title, heading=heading)
                yield Drafted(question=asked, kind="swapped", lang=one.lang)
                break


def _is_apart(first: str, second: str, texts: Sequence[str]) -> bool:
    """Return whether no text has words of both; words are compared by their beginning, so inflections do not count."""
    one, other = _beginnings(first), _beginnings(second)
    return bool(one and other) and not any(
        any(word in text for word in one) and any(word in text for word in other) for text in texts
    )


def _beginnings(text: str) -> list[str]:
    return [word.casefold()[:6] for word in _WORD.findall(text) if word.casefold() not in lexicon().stop]


def _drafted(one: Material, question: str, kind: str, evidence: str) -> Drafted:
    return Drafted(
        question=" ".join(question.split()), kind=kind, lang=one.lang, source=one.document.id, evidence=evidence
    )


def _bodies(document: Document) -> Iterator[tuple[Mark, slice]]:
    """Yield each heading with what stands below it, up to the next heading or table."""
    marks = [mark for mark in document.marks if mark.kind in ("heading", "table")]
    for mark, following in zip_longest(marks, marks[1:]):
        if mark.kind == "heading":
            yield mark, slice(mark.end, following.start if following else len(document.text))


def _beginning(text: str) -> str:
    """Return a text up to a line end or blank near the longest length of evidence."""
    text = text.strip()
    if len(text) <= _LONGEST:
        return text
    cut = max(text.rfind("\n", 0, _LONGEST), text.rfind(". ", 0, _LONGEST) + 1)
    return text[: cut if cut > _SHORTEST else _LONGEST].strip()


def _in_sentence(text: str) -> str:
    """Return a text for the middle of a sentence: an article or other function word at its beginning in lower case."""
    first, space, rest = text.partition(" ")
    return f"{first.lower()}{space}{rest}" if first.lower() in lexicon().stop else text


def _unambiguous(by_file: dict[str, list[Drafted]]) -> Iterator[list[Drafted]]:
    evidence = defaultdict[str, set[tuple[str, str]]](set)
    for drafted in by_file.values():
        for one in drafted:
            evidence[one.question.casefold()].add((one.source, one.evidence))
    for drafted in by_file.values():
        alone = {one.question.casefold(): one for one in drafted if len(evidence[one.question.casefold()]) == 1}
        yield list(alone.values())


def _alternated(drafted: Sequence[Drafted]) -> Iterator[Drafted]:
    by_kind = defaultdict[str, list[Drafted]](list)
    for one in drafted:
        by_kind[one.kind].append(one)
    for place in range(max(map(len, by_kind.values()), default=0)):
        yield from (its[place] for its in by_kind.values() if place < len(its))

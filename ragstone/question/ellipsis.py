"""Complete a question without a verb from the one before it: "And in Vienna?" asks of Vienna what was asked of Oslo.

Each phrase of such a question takes the place of its counterpart in the last question: a name that of a name, a year
that of a year, and "for students" that of "for adults". Everything else of the last question stays, such as the
measure that it asks for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ragstone.core.frozen import frozen
from ragstone.core.question import Question, Requirement
from ragstone.core.span import Span
from ragstone.core.words import Word
from ragstone.language import lexicon, plain
from ragstone.language.facts import alike
from ragstone.language.message import message_words, writing

MOST_WORDS = 8
"""Words of a question that may lack a verb."""
_NAMES = frozenset({"name", "place", "version"})
"""Kinds of things that take the place of one another, unless they are only numbers."""
_CAPITAL_NOUNS = frozenset({"de"})
"""Languages in which a capital makes no name."""
_POSSESSIVE = re.compile(r"(?:['’]s|(?<=s)['’])$")
_APART = re.compile(r"[^\s\"'“”„«»’-]")
_ENDS = " \t\n.,;:!?"
_SENTENCE_ENDS = (".", "!", "?")


@frozen
class _Phrase:
    """Content words of a question: where they are, what kind of thing they name, and what is before them."""

    span: Span
    words: Sequence[Word]
    kind: str
    link: str
    has_article: bool


@frozen
class Completed:
    """A complete question, the words in lower case by which its names differ from those before, and what else is new.

    The new phrases that are no names, such as "students", are ``required`` of a passage.
    """

    text: str
    new: frozenset[str]
    required: tuple[Requirement, ...]


def completed(question: Question, last: Question) -> Completed | None:
    """Return the last question with the phrases of one without a verb in their places; None if it has a verb.

    Args:
        question: one whose text begins with that of the last question, so that its names are recognised.
        last: the one before it, as it was understood.
    """
    if question.language not in writing():
        return None
    asked = _asked(question, len(last.text))
    known = _phrases(question, Span(start=0, end=len(last.text)), apart=True) or []
    places = [(phrase, _counterpart(phrase, known)) for phrase in asked if phrase.kind or phrase.link]
    replaced = [(phrase, old) for phrase, old in places if old]
    if not places or (len(places) < len(asked) and not replaced):
        return None
    text = last.text
    for phrase, old in sorted(replaced, key=lambda one: one[1].span.start, reverse=True):
        text = _put(text, _shared(phrase, old, last), phrase.span.of(question.text))
    if added := [f"{phrase.link} {phrase.span.of(question.text)}".strip() for phrase, old in places if not old]:
        text = f"{text.rstrip(_ENDS)} {' '.join(added)}?"
    if len(places) < len(asked):
        text += question.text[len(last.text) :]
    new = {word.lower for phrase, old in replaced for word in _others(phrase, old) if phrase.kind == "name"}
    required = tuple(_required(phrase, question) for phrase, _ in replaced if not phrase.kind)
    return Completed(text=text, new=frozenset(new), required=required)


def beside(question: Question, start: int) -> tuple[Requirement, ...]:
    """Return what is asked from a character on without a verb, and has no place in the last question.

    A passage must have it, because one that has only the last question's words repeats the last answer.
    """
    if question.language not in writing():
        return ()
    return tuple(_required(one, question) for one in _asked(question, start) if not (one.kind or one.link))


def _required(phrase: _Phrase, question: Question) -> Requirement:
    return Requirement(kind="name", text=phrase.span.of(question.text), words=tuple(phrase.words))


def _asked(question: Question, start: int) -> list[_Phrase]:
    """Return the phrases of what is asked from a character on; none if that may have a verb, or stand alone."""
    own, text = lexicon(question.language), question.text[start:].lower()
    rest = text
    while found := own.follows.match(rest):
        rest = rest[found.end() :]
    if own.refers.search(rest):
        return []
    phrases = _phrases(question, Span(start=len(question.text) - len(rest), end=len(question.text)), apart=False) or []
    begins = phrases and (phrases[0].link or (len(phrases) == 1 and phrases[0].kind and "?" in rest))
    return phrases if begins or rest != text else []


def _phrases(question: Question, within: Span, *, apart: bool) -> list[_Phrase] | None:
    """Return the phrases in a part of a question; None if it has other words and phrases need not stand ``apart``."""
    stop, names = lexicon(question.language).search_stop, message_words(question.language)
    out, run, end = list[_Phrase](), list[Word](), within.start
    link, article = "", False
    kinds = {one.span: kind for one, kind in _kinds(question)}

    def close() -> None:
        nonlocal link, article
        if run:
            kind = next(filter(None, (kinds.get(one.span, "") for one in run)), "")
            span = Span(start=run[0].span.start, end=run[-1].span.end)
            out.append(_Phrase(span=span, words=tuple(run), kind=kind, link=link, has_article=article))
            link, article = "", False
        run.clear()

    for word in question.words:
        if not within.start <= word.span.start < within.end:
            continue
        lower = word.span.of(question.text).lower()
        if run and (
            _APART.search(question.text[end : word.span.start])
            or _differ(kinds.get(run[-1].span, ""), kinds.get(word.span, ""), apart=apart)
        ):
            close()
        end = word.span.end
        if lower in names.links:
            close()
            link, article = lower, False
        elif lower in names.articles:
            close()
            article = True
        elif plain(lower) in names.asking or (lower in stop and not word.named):
            if not apart:
                return None
            close()
            link, article = "", False
        else:
            run.append(word)
    close()
    return out


def _kinds(question: Question) -> Iterator[tuple[Word, str]]:
    """Yield words with the kind of thing that they name."""
    may_name = question.language not in _CAPITAL_NOUNS
    for number, word in enumerate(question.words):
        fixed = (one.kind for one in question.requirements if one.span.start <= word.span.start < one.span.end)
        begins = number == 0 or question.text[: word.span.start].rstrip().endswith(_SENTENCE_ENDS)
        is_capital = may_name and not begins and question.text[word.span.start].isupper()
        kind = next(fixed, "name" if is_capital else "")
        if kind in ("version", "number"):
            kind = "number" if word.value else "name"
        yield word, "name" if kind in _NAMES else kind


def _differ(one: str, other: str, *, apart: bool) -> bool:
    """Return whether two words belong to different phrases, by the kinds of things that they name."""
    return one != other and (apart or bool(one and other))


def _counterpart(phrase: _Phrase, known: Sequence[_Phrase]) -> _Phrase | None:
    """Return the phrase whose place another takes: of its kind, after the same preposition if it has one."""
    same = [one for one in known if one.kind == phrase.kind]
    if phrase.link and (linked := [one for one in same if one.link == phrase.link]):
        return linked[-1]
    if not phrase.kind or not same or (phrase.link and len(same) > 1):
        return None
    return max(same, key=lambda one: (one.has_article == phrase.has_article, not one.link, one.span))


def _others(phrase: _Phrase, old: _Phrase) -> list[Word]:
    """Return the words of a phrase that another lacks."""
    return [one for one in phrase.words if not any(alike(one.lower, other.lower) for other in old.words)]


def _shared(phrase: _Phrase, old: _Phrase, last: Question) -> Span:
    """Return the span of a phrase with the words around it that the other has too: "tent" of "the Skog tent"."""
    start, end = old.span.start, old.span.end
    own = _others(phrase, old)
    for word in last.words:
        if word.span.start - end == 1 and any(alike(word.lower, one.lower) for one in own):
            end = word.span.end
    for word in reversed(last.words):
        if start - word.span.end == 1 and any(alike(word.lower, one.lower) for one in own):
            start = word.span.start
    return Span(start=start, end=end)


def _put(text: str, old: Span, new: str) -> str:
    """Return a text with a phrase in place of another, which stays possessive if it was."""
    end = old.end + (text[old.end : old.end + 1] in ("'", "’") and text[old.end - 1] == "s")
    owns = "'s" if _POSSESSIVE.search(text[old.start : end]) else ""
    return f"{text[: old.start]}{_POSSESSIVE.sub('', new)}{owns}{text[end:]}"

"""Take a message apart: what is around a question, and the questions of a message that asks several.

Around a question are a greeting, the ends of a mail, the mail below it, and wishes about the answer: "Thanks. Who is
the pilot? Answer in German." asks who the pilot is, and wishes for German.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ragstone.core.frozen import frozen
from ragstone.core.headings import is_question
from ragstone.core.line_marks import BULLETS
from ragstone.core.question import Wishes
from ragstone.language import lexicon, plain
from ragstone.language.files import tried
from ragstone.language.message import MessageWords, message_words, messages_in, writing
from ragstone.question.analysis import keywords_of
from ragstone.question.talk import talk_of

_OPENING = re.compile(r"\s*(?P<said>[^,.!?;:\n]{2,60})(?P<mark>[,.!]+)\s+(?P<rest>\S.*)", re.DOTALL)
_WORD = re.compile(r"[^\W_]+")
_SWITCH = re.compile(r"(?:^|\s)/(?:no_)?think\b")
"""What some people type to switch the thinking of a model on or off."""
_SENTENCE = re.compile(r"[^.!?:\n]*(?:[.!?:]+(?=\s|$)|[.!?:](?=\S)[^.!?:\n]*)*[.!?:]*")
_APART = re.compile(r"\s*[,;(–—]\s*|\s+-\s+")
_ENDS = " \t\n.,;:!?()-–—\"'"
_QUOTED, _RULE = re.compile(r"\s*>"), re.compile(r"\s*-{2,}")
_SHORT_LINE, _GREETING_WORDS, _SIGNATURE_LINES = 60, 6, 8
"""Characters of a line of a greeting or a signature, words of a greeting, and lines of a signature."""
_LONGEST = 4000
"""Characters of a message that is taken apart; a longer one is left as it is."""


@frozen
class Framed:
    """What a message asks, what it wishes, and whether it is only about the last answer or its form."""

    text: str
    wishes: Wishes
    about_answer: bool = False


def unframed(message: str, language: str = "") -> Framed:
    """Return what a message asks without its frame.

    Args:
        message: as it was typed.
        language: ISO 639-1 code of the likely language, or empty.
    """
    if len(message) > _LONGEST:
        return Framed(text=message, wishes=Wishes())
    languages = [message_words(one) for one in tried(language, writing())]
    text = _SWITCH.sub("", message).strip() or message
    text = spelled_out(without_courtesy(_without_ends(text, languages), language), language)
    kept, wishes = list[str](), Wishes()
    for sentence in _sentences(text):
        rest, new = _without_wish(sentence, languages)
        wishes = _joined(wishes, new)
        kept += [rest] if rest.strip(_ENDS) else []
    asked = plain(text).strip(_ENDS)
    about = (bool(wishes) and not kept) or any(one.about_answer.fullmatch(asked) for one in languages)
    core = " ".join(kept) if wishes and kept else text
    return Framed(text=core, wishes=wishes, about_answer=about)


def without_courtesy(question: str, language: str = "") -> str:
    """Return a question without the courtesy before it, which would be searched for too.

    What follows must begin as a question does, so that "Good morning, Vietnam" stays a title.

    Args:
        question: as it was asked.
        language: ISO 639-1 code of the question's likely language, or empty.
    """
    match = _OPENING.match(question)
    if match is None:
        return question
    first = _WORD.match(match["rest"])
    asks = match["mark"] != "," or is_question(match["rest"])
    if first is None or not (first[0].islower() or (asks and _is_stop(first[0], language))):
        return question
    talk = talk_of(match["said"], language)
    return match["rest"] if talk and talk.kind in ("greeting", "thanks") else question


def spelled_out(question: str, language: str = "") -> str:
    """Return a question with the words that people write as one apart: "whats" as "what is".

    Args:
        question: as it was asked.
        language: ISO 639-1 code, or empty.
    """
    for one in messages_in(language):
        question = one.contracted.sub(lambda found, own=one: _as_begun(found[0], own), question)
    return question


def _as_begun(word: str, language: MessageWords) -> str:
    """Return what a word stands for, with a capital if the word has one."""
    whole = language.contractions[word.lower()]
    return _raised(whole) if word[:1].isupper() else whole


def _is_stop(word: str, language: str) -> bool:
    return word.lower() in lexicon(language).search_stop


def _without_ends(text: str, languages: list[MessageWords]) -> str:
    """Return a mail without its greeting, its signature and the mail that it replies to; all of it if nothing is left.

    A text of one line is no mail.
    """
    lines = [line for line in text.splitlines() if not _QUOTED.match(line)]
    if len(lines) < 2:
        return text
    plain_lines = [plain(line).strip() for line in lines]
    end = next((n for n, line in enumerate(plain_lines) if n and _is_reply_to(line, languages)), len(lines))
    closing = (n for n in range(1, end) if _is_closing(plain_lines[n:end], languages))
    end = next(closing, end)
    start = next((n for n in range(end) if plain_lines[n]), end)
    if start < end and _is_greeting(plain_lines[start], languages):
        start += 1
    return "\n".join(lines[start:end]).strip() or text


def _is_reply_to(line: str, known: list[MessageWords]) -> bool:
    """Return whether a line is what stands above the mail that a mail replies to."""
    return _RULE.match(line) is not None or any(one.wrote.search(line) for one in known)


def _is_greeting(line: str, known: list[MessageWords]) -> bool:
    is_short = len(line) <= _SHORT_LINE and len(line.split()) <= _GREETING_WORDS
    return is_short and "?" not in line and any(one.greets.match(line) for one in known)


def _is_closing(lines: list[str], known: list[MessageWords]) -> bool:
    """Return whether the first of some lines ends a mail, and all others are a signature."""
    if not any(one.closes.match(lines[0]) for one in known):
        return False
    return len(lines) <= _SIGNATURE_LINES and all(len(one) <= _SHORT_LINE and "?" not in one for one in lines)


def _sentences(text: str) -> Iterator[str]:
    for found in _SENTENCE.finditer(text):
        if found[0].strip():
            yield found[0].strip()


def _without_wish(sentence: str, languages: list[MessageWords]) -> tuple[str, Wishes]:
    """Return a sentence without the wish that it is, or that is set apart at its end: "..., in German please?"."""
    if wishes := _wishes(sentence, languages):
        return "", wishes
    last = next(reversed([*_APART.finditer(sentence)]), None)
    if last is None or not last.start() or not (wishes := _wishes(sentence[last.end() :], languages)):
        return sentence, Wishes()
    mark = "?" if "?" in sentence[last.end() :] else ""
    return f"{sentence[: last.start()]}{mark}", wishes


def _wishes(text: str, languages: list[MessageWords]) -> Wishes:
    said = plain(text).strip(_ENDS)
    for one in languages:
        if match := one.wish.fullmatch(said):
            return Wishes(
                language=one.names.get(match["language"] or "", ""),
                form=(match["form"] or "").strip(),
                length=(match["length"] or "").strip(),
                sources=bool(match["sources"]),
            )
    return Wishes()


def _joined(first: Wishes, second: Wishes) -> Wishes:
    return replace(
        first,
        language=first.language or second.language,
        form=first.form or second.form,
        length=first.length or second.length,
        sources=first.sources or second.sources,
    )


# ---------------------------------------------------------------- several questions

_MOST = 6
"""Questions of a message that are answered one by one; the last one has the rest."""
_END = re.compile(r"(?<=[?？؟])\s+")
_NUMBER = re.compile(rf"^\s*(?:[{BULLETS}]|\(?\d{{1,2}}[.)]|[a-z]\))\s+")
_STOPS = re.compile(r"[.!]\s")


@frozen
class Part:
    """A question of several; one that ``goes_on`` stands in the sentence of the one before it."""

    text: str
    goes_on: bool = False


def parts_of(text: str, language: str = "") -> list[Part]:
    """Return the questions of a text, in order, each with the statements before it; none if it is one question.

    Args:
        text: without its frame.
        language: ISO 639-1 code, or empty.
    """
    if len(text) > _LONGEST:
        return []
    asked, rest = list[Part](), ""
    for piece in _END.split(text.strip()):
        if is_question(piece) or _asks(piece, language):
            own = _NUMBER.sub("", piece)
            own = _without_join(own, language) if asked and not rest else own
            questions = _joined_by_words(f"{rest} {own}".strip(), language)
            asked += [Part(text=one, goes_on=n > 0) for n, one in enumerate(questions)]
            rest = ""
        else:
            rest = f"{rest} {piece}".strip()
    parts = [one for n, one in enumerate(asked) if len(one.text.split()) > 1 and (n or keywords_of(one.text, language))]
    if len(parts) < 2:
        return []
    last, more = parts[:_MOST][-1], " ".join((*(one.text for one in parts[_MOST:]), rest))
    return [*parts[: _MOST - 1][: len(parts) - 1], replace(last, text=f"{last.text} {more}".strip())]


def subject_of(question: str, language: str = "") -> str:
    """Return a question without the words at its beginning by which it asks for a name or a number.

    "The site manager" is left of "Who is the site manager?", so that "What is his mail?" behind it asks for no name.

    Args:
        question: one of several of a message, which a further one refers to.
        language: ISO 639-1 code, or empty.
    """
    lists, folded = lexicon(language), plain(question)
    if not (lists.asks_name.match(folded) or lists.asks_number.match(folded)):
        return question
    first = next((one for one in _WORD.finditer(question) if one[0].lower() not in lists.search_stop), None)
    return question[first.start() :] if first else question


def _joined_by_words(question: str, language: str) -> Iterator[str]:
    """Yield the questions that a word such as "and" joins, if each has content of its own."""
    for one in messages_in(language):
        if found := one.join.search(question.lower()):
            first, second = question[: found.start()], question[found.end() :]
            if not _STOPS.search(second) and _has_content(first, language) and _has_content(second, language):
                yield f"{first.rstrip(' ,;')}?"
                yield from _joined_by_words(_raised(second), language)
                return
    yield question


def _asks(text: str, language: str) -> bool:
    """Return whether a text asks by its first word, though it has no question mark."""
    first = _WORD.search(text)
    return first is not None and any(plain(first[0]) in one.asking for one in messages_in(language))


def _has_content(question: str, language: str) -> bool:
    """Return whether a question names something; "how long?" does not."""
    folded = plain(question).strip()
    asks = lexicon(language).asks_number.match(folded)
    return bool(keywords_of(folded[asks.end() :] if asks else question, language))


def _without_join(question: str, language: str) -> str:
    """Return a question without the word that joins it to the one before: "And who has the key?"."""
    for one in messages_in(language):
        if found := one.joined.match(question.lower()):
            return _raised(question[found.end() :])
    return question


def _raised(text: str) -> str:
    return text[:1].upper() + text[1:]

"""Manual pages in troff, with the macros of man(7) and mdoc(7): the words of a page as a terminal shows them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ragstone.acquire.readers import mdoc, text
from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.parsed import File, Parsed, Writer
from ragstone.acquire.readers.troff import Troff, arguments

_PAGE = re.compile(r"^[.'][ \t]*(?:TH|Dd|Dt|SH|Sh)\b", re.MULTILINE)
_ELSEWHERE = re.compile(r"\s*\.so[ \t]+(\S+)\s*")
_CALL = re.compile(r"[.'][ \t]*(\S*)[ \t]*(.*)")
_ABOUT = re.compile(r"(.{1,500}?)\s[-–—−]+\s+(.{1,200})")
_NUMBER = re.compile(r"\(?\w{1,3}[.)]")
_BULLETS = frozenset("•·○-–—*+o")
_TERMS = ("-tag", "-hang", "-ohang", "-inset", "-diag")
_SYNOPSIS = re.compile(r"S[YI]NOPSIS|ÜBERSICHT", re.IGNORECASE)
_NO_WORDS = "Dd Os PD DT AT UC IX Tg Bk Ek Rs Bf Ef TA LINKSTYLE EQ EN PS PE KS KE mso nroff troff fam kern warn"
_SILENT = frozenset(_NO_WORDS.split())
"""Macros whose arguments are no words of the page; nor are those of requests, which have two small letters."""


def parse(file: File) -> Parsed:
    """Return the words of a manual page. Its title is its name, its section, and what it says that it does.

    Raises:
        Unreadable: there is no text, or the file only names another page.
    """
    source, facts = text.text_of(file)
    if found := _ELSEWHERE.fullmatch(source):
        raise Unreadable(f"only names another page: {found[1]}")
    if not _PAGE.search(source):
        return text.parse(file)
    return replace(parse_text(source), facts={"kind": "manual", **facts})


def parse_text(source: str) -> Parsed:
    """Return the words of a page in troff, with headings, code and tables marked."""
    page = _Page(troff=Troff(source))
    page.read()
    return page.writer.parsed(title=page.title())


@dataclass(slots=True, kw_only=True)
class _List:
    """A list of mdoc: its kind, the number of its last item, and the rows of a list with columns."""

    kind: str
    number: int = 0
    rows: list[list[str]] = field(default_factory=list[list[str]])


@dataclass(slots=True, kw_only=True)
class _Page:
    """A page as far as it is read.

    ``awaited`` is the macro of the heading or term that the next words are, ``terms`` what stands before the words to
    come, ``lines`` the words since the last blank line, and ``words`` the line that is not complete. ``displays`` says
    whether lines were filled before each display.
    """

    troff: Troff
    writer: Writer = field(default_factory=Writer)
    words: mdoc.Words = field(default_factory=mdoc.Words)
    lines: list[str] = field(default_factory=list[str])
    terms: list[str] = field(default_factory=list[str])
    awaited: str = ""
    filled: bool = True
    displays: list[bool] = field(default_factory=list[bool])
    lists: list[_List] = field(default_factory=list[_List])
    link: str = ""
    page: tuple[str, str] = ("", "")
    name: str = ""
    headings: list[str] = field(default_factory=list[str])
    about: str = ""

    def read(self) -> None:
        """Write the blocks of the page."""
        rows: list[str] | None = None
        for line in self.troff.lines():
            call = _CALL.match(line)
            name = call[1] if call else ""
            if rows is not None and name != "TE":
                rows.append(line)
            elif name in ("TS", "TE"):
                self._block()
                self.writer.table(_cells(rows or [], self.troff))
                rows = [] if name == "TS" else None
            elif call:
                self._macro(name, arguments(call[2]))
            elif self.filled and not line.strip():
                self._block()
            else:
                if line[0:1] == " ":
                    self._break()
                self._put(line)
        self.writer.table(_cells(rows or [], self.troff))
        self._close_lists()

    def title(self) -> str:
        """Return the name and section of the page and what it does: "cp(1): copy files and directories"."""
        (name, section), found = self.page, _ABOUT.match(self.about)
        names = re.split(r"[,\s]+", found[1]) if found else []
        usual = name.lower() if name.isupper() else name
        name = next((one for one in names if one.casefold() == name.casefold()), usual)
        page = f"{name}({section})" if section else name
        return f"{page}: {found[2]}" if found and page else page

    def _macro(self, name: str, given: list[str]) -> None:
        match name:
            case "PP" | "P" | "LP" | "HP" | "Pp" | "Lp" | "sp" | "Re":
                self._block()
            case "br" | "RS" | "RE" | "YS" | "ce" | "in" | "ti":
                self._break()
            case "nf" | "EX" | "Vb" | "fi" | "EE" | "Ve":
                self._block()
                self.filled = name in ("fi", "EE", "Ve")
            case "SH" | "SS" | "Sh" | "Ss":
                self._close_lists()
                self.filled, self.awaited, self.displays = True, name, []
                if name in ("Sh", "Ss"):
                    self._inline(given)
                else:
                    self._put(" ".join(given))
            case "TP" | "TQ":
                self._block(more_terms=True)
                self.awaited = name
            case "IP":
                term = " ".join(self.troff.plain(given[0]).split()) if given else ""
                self._block(more_terms=bool(term))
                self.terms += [term] if term else []
            case "It" | "Bl" | "El":
                self._list(name, given)
            case "Bd" | "Ed" | "D1" | "Dl":
                self._display(name, given)
            case "TH" | "Dt":
                one, other = (*map(self.troff.plain, given), "", "")[:2]
                self.page = (" ".join(one.split()), " ".join(other.split()))
            case "UR" | "MT":
                self.link = "".join(given[:1])
            case "UE" | "ME":
                self._put(f"<{self.link}>{''.join(given)}")
            case "MR":
                self._put(f"{''.join(given[:1])}({' '.join(given[1:2])}){''.join(given[2:])}")
            case "SY":
                self._break()
                self._put(" ".join(given))
            case "OP":
                self._put(f"[{' '.join(given)}]")
            case "Nd":
                self._put(" ".join(["–", *given]))
            case "Sm":
                self.words.spaced = "off" not in given
            case "Ex":
                name = " ".join(given[1:]) or self.name
                self._put(f"The {name} utility exits 0 on success, and >0 if an error occurs.")
            case _ if name in mdoc.INLINE:
                self._inline([name, *given])
            case _ if words := _words(name, given):
                self._put(words)
            case _:
                pass

    def _put(self, words: str) -> None:
        """Add the words of a line of the source."""
        if words or not self.filled:
            self.words.put(self.troff.plain(words))
            self._input_ended(goes_on=words.endswith("\\c"))

    def _inline(self, tokens: Sequence[str]) -> None:
        """Add the words of a line with macros of mdoc."""
        if tokens[:1] == ["Nm"] and not self.name and len(tokens) > 1:
            self.name = self.troff.plain(tokens[1])
        is_synopsis = bool(self.headings) and _SYNOPSIS.match(self.headings[-1]) and not self.awaited
        if is_synopsis and tokens and tokens[0] in ("Nm", "Fn", "Fo", "In", "Fd", "Cd", "Ft", "Vt"):
            self._break()
            self.words.pieces += ["#include"] if tokens[0] == "In" else []
        if tokens:
            mdoc.write(tokens, self.words, self.name or self.page[0].lower(), self.troff.plain)
            self._input_ended(goes_on=self.awaited == "It" and self.words.terms > 0)

    def _input_ended(self, *, goes_on: bool) -> None:
        """End what one line of the source holds, unless it goes on: a heading, a term, or a line of code."""
        self.words.glued = self.words.glued or (goes_on and self.awaited != "It")
        if goes_on:
            return
        awaited, self.awaited = self.awaited, ""
        if awaited in ("TP", "TQ", "It"):
            self.terms.append(" ".join(self.words.taken().split()))
        elif awaited:
            words = self.words.taken()
            self.writer.heading(words, 1 if awaited in ("SH", "Sh") else 2)
            self.headings.append(words)
        elif not self.filled:
            self._break()

    def _list(self, name: str, given: Sequence[str]) -> None:
        kind = self.lists[-1].kind if self.lists else ""
        if name == "Bl":
            self._block()
            self.lists.append(_List(kind=given[0] if given else ""))
        elif name == "El":
            self._block()
            self.writer.table(self.lists.pop().rows if self.lists else [])
        elif kind in ("-bullet", "-dash", "-hyphen", "-enum"):
            self._block()
            self.lists[-1].number += 1
            self.terms = [f"{self.lists[-1].number}." if kind == "-enum" else "-"]
        elif kind in ("-column", "-item"):
            self._block()
            self._inline(["No", *given])
        else:
            self._block(more_terms=True)
            self.awaited = "It" if given else ""
            self._inline(given)

    def _close_lists(self) -> None:
        self._block()
        for one in self.lists:
            self.writer.table(one.rows)
        self.lists.clear()

    def _display(self, name: str, given: Sequence[str]) -> None:
        self._block()
        if name == "Ed":
            self.filled = self.displays.pop() if self.displays else True
        elif name == "Bd":
            self.displays.append(self.filled)
            self.filled = not {"-literal", "-unfilled"} & set(given)
        else:
            before, self.filled = self.filled, False
            self._inline(["No", *given])
            self._block()
            self.filled = before

    def _break(self) -> None:
        """End the line."""
        if not self.words.pieces:
            return
        line = self.words.taken()
        if not self.filled:
            self.lines.append(line.expandtabs(8).rstrip())
            return
        cells = line.split("\t") if self.lists and self.lists[-1].kind == "-column" else [line]
        self.lines.append("\t".join(" ".join(cell.split()) for cell in cells))

    def _block(self, *, more_terms: bool = False) -> None:
        """Write the words since the last blank line, below their terms.

        Args:
            more_terms: another term follows, so terms that have no words yet share those of the next.
        """
        self._break()
        if more_terms and not any(self.lines):
            return
        body, terms = "\n".join(self.lines), self.terms
        self.lines, self.terms, self.awaited, self.words.terms = [], [], "", 0
        if not self.filled:
            self.writer.paragraph("\n".join(terms))
            self.writer.code(body)
            return
        kind = self.lists[-1].kind if self.lists else ""
        if kind == "-column":
            self.lists[-1].rows.append(body.replace("\n", " ").split("\t"))
            return
        if len(self.headings) == 1 and not self.about:
            self.about = body.replace("\n", " ")
        if body[:2] in ("• ", "· "):
            body = f"- {body[2:]}"
        is_bullet = terms[-1:] and (terms[0] in _BULLETS or _NUMBER.fullmatch(terms[0])) and kind not in _TERMS
        if is_bullet and len(terms) == 1 and body:
            self.writer.paragraph(f"{'-' if terms[0] in _BULLETS else terms[0]} {body}")
        elif terms:
            self.writer.paragraph("\n".join(terms))
            self.writer.line(body)
        else:
            self.writer.paragraph(body)


def _words(name: str, given: Sequence[str]) -> str:
    """Return the words of a macro that only sets a font, or that the page should define itself."""
    if name in _SILENT or (len(name) == 2 and name.islower()):
        return ""
    return ("" if name in ("BI", "BR", "IB", "IR", "RB", "RI") else " ").join(given)


def _cells(lines: Sequence[str], troff: Troff) -> list[list[str]]:
    """Return the rows of a table from the lines between .TS and .TE, in the language of tbl."""
    rows, tab, is_format, block = list[list[str]](), "\t", True, list[str]()
    for number, line in enumerate(lines):
        call = _CALL.match(line)
        if number == 0 and line.rstrip().endswith(";"):
            found = re.search(r"tab ?\((.)\)", line)
            tab = found[1] if found else tab
        elif is_format:
            is_format = not line.rstrip().endswith(".")
        elif call:
            is_format = call[1] == "T&"
            block += [_words(call[1], arguments(call[2]))] if block else []
        elif block and not line.startswith("T}"):
            block.append(line)
        elif block or line.strip("_=- \t"):
            cells = line.split(tab)
            if block:
                rows[-1][-1] = troff.plain(" ".join(block).removeprefix("T{"))
                rows[-1] += map(troff.plain, cells[1:])
            else:
                rows.append([*map(troff.plain, cells)])
            # A cell of several lines: T{, the lines, T}.
            block = ["T{"] if cells[-1] == "T{" else []
    return rows

"""Manual pages in troff, as mandoc or groff shows them in a terminal; without either, their text without macros."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from ragstone.acquire.readers import programs
from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.parsed import File, Parsed, Writer
from ragstone.acquire.readers.text import plain
from ragstone.core.reading import PARTIAL

_PAGE = re.compile(r"^[.'][ \t]*(?:TH|Dd|Dt|SH|Sh)\b", re.MULTILINE)
_BSD = re.compile(r"^[.'][ \t]*(?:Dd|Dt|Sh)\b", re.MULTILINE)
_TITLES = re.compile(r"^[.'][ \t]*TH\b.*", re.MULTILINE)
_ELSEWHERE = re.compile(r"\s*\.so[ \t]+(\S+)\s*")
_TITLE = re.compile(r"^\.(?:TH|Dt)[ \t]+\"?([^\s\"]+)\"?[ \t]+\"?([^\s\"]+)", re.MULTILINE)
_ABOUT = re.compile(r"(.{1,500}?)\s[-–—−]+\s+(.{1,200})")
_OUTSIDE = ("so", "soquiet", "mso", "msoquiet", "nx", "cf", "trf", "psbb", "hpf", "hpfa", "open", "opena", "sy", "pi")
"""Requests of groff that read, write or run something else. A page cannot call a request whose name is removed."""
_WITHOUT_FILES = "".join(f".rm {request}\n" for request in (*_OUTSIDE, "pso", "shipout"))
_WIDTH = "1000"
"""characters of a line, so that most paragraphs are on one."""
_BARS = re.compile(r"\s*[│|]\s*")
_RULE = re.compile(r"[\s─━┌┐└┘├┤┬┴┼+│|-]+")
_COMMENT = re.compile(r"(?:^[.'][ \t]*)?\\\".*")
_ESCAPE = re.compile(r"\\(?:[fFmM](?:\[[^\]]*\]|\(..|.)|s[-+]?\d|[*n](?:\[[^\]]*\]|\(..|.)|[&|^/,%:)c])")
_CHARACTERS = {
    r"\-": "-",
    r"\e": "\\",
    r"\(em": "—",
    r"\(en": "–",
    r"\(aq": "'",
    r"\(dq": '"',
    r"\(bu": "•",
    r"\ ": " ",
}


def parse(file: File) -> Parsed:
    """Return the words of a manual page. Its title is its name, its section, and what it says that it does.

    Raises:
        Unreadable: there is no text, or the file only names another page.
    """
    source, facts = plain.text_of(file)
    if found := _ELSEWHERE.fullmatch(source):
        raise Unreadable(f"only names another page: {found[1]}")
    if not _PAGE.search(source):
        return plain.parse(file)
    program = programs.manuals()
    parsed = _shown(source, program) if program else _without_macros(source)
    missing = {} if program else {PARTIAL: "its macros were left out; install mandoc or groff to read it whole"}
    return replace(parsed, title=_title(source, parsed.text), facts={"kind": "manual", **missing, **facts})


def _shown(source: str, program: str) -> Parsed:
    """Return a page as a terminal shows it.

    Raises:
        Unreadable: the program fails.
    """
    if Path(program).name == "mandoc":
        command = [program, "-K", "utf-8", "-T", "utf8", "-O", f"width={_WIDTH}"]
    else:
        is_bsd = bool(_BSD.search(source))
        macros = "-mdoc" if is_bsd else "-man"
        command = [program, "-K", "utf8", "-t", "-T", "utf8", "-P", "-cbou", f"-rLL={_WIDTH}n", "-rHY=0", macros]
        # The title loads the macros, which needs what is removed then.
        source = _WITHOUT_FILES + source if is_bsd else f".TH a 1\n{_WITHOUT_FILES}{_TITLES.sub('', source)}"
    with TemporaryDirectory(prefix="ragstone-") as folder:
        # mandoc includes only files below its folder, which has none.
        _, output = programs.run(command, Path(folder), source.encode("utf-8", "replace"))
    shown = output.decode("utf-8", "replace").replace("\xa0", " ")
    lines = re.sub(".\b", "", shown).expandtabs(8).split("\n")
    writer, block = Writer(), list[str]()
    pages = [number for number, line in enumerate(lines) if line.strip()]
    # The first and the last line are the title and the date, far apart.
    for line in [*lines[pages[0] + 1 : pages[-1]], ""] if pages else []:
        if line.strip():
            block.append(line)
        else:
            _write(block, writer)
            block = []
    if not (parsed := writer.parsed()).text:
        raise Unreadable(f"{Path(program).name} cannot read it")
    return parsed


def _write(block: list[str], writer: Writer) -> None:
    """Write lines without a blank line between them: headings by their indentation, tables by their bars."""
    words, rows = list[str](), list[list[str]]()
    for line in [*block, ""]:
        indentation = len(line) - len(line.lstrip())
        is_row = line.lstrip().startswith(("│", "|", "┌", "├", "└", "+-"))
        if not is_row and rows:
            writer.table(rows)
            rows = []
        if words and (is_row or indentation < 5):
            shared = min(len(one) - len(one.lstrip()) for one in words)
            writer.paragraph("\n".join(one[shared:].rstrip() for one in words))
            words = []
        if is_row:
            rows += [] if _RULE.fullmatch(line) else [_BARS.split(line.strip())[1:-1]]
        elif line.strip() and indentation < 5:
            writer.heading(line, 1 if indentation == 0 else 2)
        elif line.strip():
            words.append(line)


def _without_macros(source: str) -> Parsed:
    """Return the text of a page without its macros, with its headings marked."""
    writer, words = Writer(), list[str]()
    for line in [*source.split("\n"), ".PP"]:
        text = _COMMENT.sub("", line)
        call = re.match(r"[.'][ \t]*(\S*)[ \t]*(.*)", text)
        text = call[2].replace('"', "") if call else text
        for escape, character in _CHARACTERS.items():
            text = text.replace(escape, character)
        text = _ESCAPE.sub("", text)
        if call and call[1] in ("SH", "Sh", "SS", "Ss", "PP", "P", "LP", "Pp", "TP", "IP", "It"):
            writer.paragraph("\n".join(words))
            words = []
        if call and call[1].lower() in ("sh", "ss"):
            writer.heading(text, 1 if call[1].lower() == "sh" else 2)
        elif text.strip() and not (call and (call[1] in ("TH", "Dd", "Dt", "Os") or call[1][:2].islower())):
            words.append(text)
    return writer.parsed()


def _title(source: str, text: str) -> str:
    """Return the name and section of the page and what it does: "cp(1): copy files and directories"."""
    if not (found := _TITLE.search(source)):
        return ""
    name, section = (part.replace(r"\-", "-").replace(r"\&", "") for part in found.groups())
    about = _ABOUT.fullmatch("".join(text.split("\n\n")[1:2]).replace("\n", " "))
    names = re.split(r"[,\s]+", about[1]) if about else []
    usual = name.lower() if name.isupper() else name
    page = f"{next((one for one in names if one.casefold() == name.casefold()), usual)}({section})"
    return f"{page}: {about[2]}" if about else page

"""Calendars (iCalendar) and address books (vCard): their entries, with what people see of each."""

from __future__ import annotations

import re

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.parsed import File, Parsed, Writer
from ragstone.acquire.readers.text.plain import text_of

_FOLD = re.compile(r"\n[ \t]")
_LINE = re.compile(r"([\w.-]+)((?:;(?:\"[^\"]*\"|[^:\"])*)?):(.*)")
_TIME = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(?:\d\d)?(Z?))?")
_ESCAPE = re.compile(r"\\(.)")
_ENTRIES = ("VEVENT", "VTODO", "VJOURNAL", "VCARD")
_NAMES = ("SUMMARY", "FN")
_SHOWN = {
    "DTSTART": "Start", "DTEND": "End", "DUE": "Due", "LOCATION": "Location", "ORGANIZER": "Organizer",
    "ATTENDEE": "Attendee", "STATUS": "Status", "URL": "URL", "ORG": "Organization", "TITLE": "Title", "TEL": "Phone",
    "EMAIL": "E-mail", "ADR": "Address", "BDAY": "Birthday", "NOTE": "Note", "DESCRIPTION": "",
}  # fmt: skip


def parse(file: File) -> Parsed:
    """Return the entries of a calendar or an address book, each below its name.

    Raises:
        Unreadable: there is no entry in it.
    """
    text, facts = text_of(file)
    writer = Writer()
    for name, lines in _entries(text):
        writer.heading(name, 1)
        writer.paragraph("\n".join(lines))
    parsed = writer.parsed(facts={"kind": file.suffix.removeprefix("."), **facts})
    if not parsed.text:
        raise Unreadable("no entry of a calendar or an address book in it")
    return parsed


def calendar_text(text: str) -> str:
    """Return the entries of a calendar as text, such as those of an invitation."""
    return "\n\n".join("\n".join([name, *lines]) for name, lines in _entries(text.replace("\r\n", "\n")))


def _entries(text: str) -> list[tuple[str, list[str]]]:
    """Return the name of each entry, and the lines below it."""
    entries: list[tuple[str, list[str]]] = []
    inside: list[str] = []
    for line in _FOLD.sub("", text).split("\n"):
        found = _LINE.fullmatch(line.rstrip("\r"))
        if found is None:
            continue
        key, options, value = found[1].rpartition(".")[2].upper(), found[2], found[3]
        if key == "BEGIN":
            inside.append(value.strip().upper())
            if inside[-1] in _ENTRIES:
                entries.append(("", []))
        elif key == "END":
            inside = inside[:-1]
        elif inside and inside[-1] in _ENTRIES and (words := _words(key, options, value)):
            name, lines = entries[-1]
            if key in _NAMES:
                entries[-1] = (name or words, lines)
            elif key in _SHOWN:
                lines.append(f"{_SHOWN[key]}: {words}" if _SHOWN[key] else words)
    return [(name, lines) for name, lines in entries if name or lines]


def _words(key: str, options: str, value: str) -> str:
    if key.startswith("DT") or key in ("DUE", "BDAY"):
        if found := _TIME.fullmatch(value.strip()):
            year, month, day, hour, minute, universal = found.groups()
            zone = re.search(r"TZID=\"?([^;:\"]+)", options)
            clock = f" {hour}:{minute}{' UTC' if universal else f' {zone[1]}' if zone else ''}" if hour else ""
            return f"{year}-{month}-{day}{clock}"
        return value.strip()
    if key in ("ORGANIZER", "ATTENDEE"):
        name = re.search(r"CN=\"?([^;:\"]+)", options)
        return name[1] if name else value.removeprefix("mailto:")
    if key in ("ADR", "ORG"):
        value = ", ".join(part for part in re.split(r"(?<!\\);", value) if part)
    return _ESCAPE.sub(lambda found: "\n" if found[1] in "nN" else found[1], value).strip()

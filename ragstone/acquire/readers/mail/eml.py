"""E-mails (eml): the text, its sender, recipients, date and subject. Attachments become documents of their own.

Web pages saved as one file (mhtml) have the same form.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from email import message_from_bytes, policy
from email.header import decode_header, make_header
from email.message import Message
from email.utils import parsedate_to_datetime
from urllib.parse import urljoin

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.mail.calendar import calendar_text
from ragstone.acquire.readers.mail.quoted import unflowed, write_plain
from ragstone.acquire.readers.parsed import File, Parsed, Part, Writer, tidy
from ragstone.acquire.readers.pictures.embedded import EmbeddedPictures, is_picture_type, picture_in_address
from ragstone.acquire.readers.web.html import parse_page
from ragstone.core.filters import Scalar

MOST_PARTS = 500
"""Parts or attachments of a message that are read."""
_MOST = 0.5
_FEW_WORDS, _FEW_MISSING = 12, 2
"""Words of a plain text that only asks to open the message elsewhere."""
_HEADERS = ("From", "To", "Subject", "Date", "Message-ID", "Content-Type", "Received", "Return-Path")
"""An e-mail has at least one of these."""
_SAVED_PAGES = (".mht", ".mhtml")
_SMIME = ("application/pkcs7-mime", "application/x-pkcs7-mime")
_ARMOUR = "-----BEGIN PGP MESSAGE-----"


def parse(file: File) -> Parsed:
    """Return the text of an e-mail, preferring plain text to HTML. Its title is the subject.

    Raises:
        Unreadable: the file is no e-mail, or it is encrypted.
    """
    # The older policy, because a hostile header can keep the header grammar of the newer one busy forever.
    mail = message_from_bytes(_as_ascii(file.path.read_bytes()), policy=policy.compat32)
    if not any(mail.get(name) for name in _HEADERS):
        raise Unreadable("not an e-mail: it has no headers")
    plain: list[str] = []
    pages: list[str] = []
    attached: list[Part] = []
    if file.suffix in _SAVED_PAGES:
        return _saved_page(mail, file)
    for number, part in enumerate(mail.walk()):
        if number >= MOST_PARTS:
            break
        if part.is_multipart():
            continue
        name = _header(part.get_filename() or "")
        kind = part.get_content_type()
        if name or part.get_content_disposition() == "attachment":
            data = part.get_payload(decode=True)
            if name and isinstance(data, bytes) and data:
                attached.append(Part(name=name, data=data))
        elif kind == "text/plain":
            plain.append(unflowed(_text(part)) if part.get_param("format") == "flowed" else _text(part))
        elif kind == "text/html":
            pages.append(_text(part))
        elif kind == "text/calendar":
            plain.append(calendar_text(_text(part)))
    said = "\n\n".join(plain).strip()
    if not pages and (not said or said.startswith(_ARMOUR)) and any(map(_is_encrypted, mail.walk())):
        raise Unreadable("encrypted")
    writer = Writer()
    write_body(writer, said, [parse_page(page, whole=True) for page in pages])
    subject = _header(mail.get("Subject", ""))
    facts: dict[str, Scalar] = {
        "kind": "eml",
        "from": _header(mail.get("From", "")),
        "to": _header(mail.get("To", "")),
        "cc": _header(mail.get("Cc", "")),
        "date": _date(mail),
        "thread": thread_of(*(_header(mail.get(name, "")) for name in ("References", "In-Reply-To", "Message-ID"))),
    }
    return writer.parsed(title=subject, facts=facts, parts=attached)


def write_body(writer: Writer, plain: str, pages: Sequence[Parsed]) -> None:
    """Write the body of a message: its plain text, or its pages if the plain text lacks most of their words.

    Of the plain text, what earlier messages say stands below the line about each of them.

    Programs put "Please enable HTML to view this message" into the plain text. If each has words that the other lacks,
    both are written.
    """
    own, others = _words(plain), _words(" ".join(page.text for page in pages))
    differs_little = len(others) <= len(own) and len(others - own) <= _FEW_MISSING
    has_all = differs_little or len(own & others) > _MOST * len(others)
    is_placeholder = bool(pages) and not has_all and len(own - others) <= max(_FEW_WORDS, _MOST * len(others))
    if not is_placeholder:
        write_plain(writer, plain)
    if not own or not has_all:
        for page in pages:
            writer.marked(page.text, page.marks)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def thread_of(references: str, reply_to: str, own: str) -> str:
    """Return what the messages of a conversation share: the id of its first message.

    Args:
        references: the ids of the messages before, the first one first.
        reply_to: the id of the message that this one answers.
        own: the id of this message.
    """
    first = (references.split() or reply_to.split() or own.split() or [""])[0]
    return first.strip("<>")[:200]


def _as_ascii(data: bytes) -> bytes:
    """Return a message in UTF-16, which programs of Windows save, as UTF-8; others as they are."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace").encode("utf-8", "replace")
    start = data[:200]
    if len(start) > 20 and start[1::2].count(0) > 0.8 * len(start) / 2:
        return data.decode("utf-16-le", "replace").encode("utf-8", "replace")
    return data


def _saved_page(mail: Message, file: File) -> Parsed:
    """Return the page of a web archive.

    Raises:
        Unreadable: there is no page in it.
    """
    page = next((part for part in mail.walk() if part.get_content_type() == "text/html"), None)
    if page is None:
        raise Unreadable("no page in it")
    url = _header(page.get("Content-Location", "")) or _header(mail.get("Snapshot-Content-Location", ""))
    saved = _pictures_of(mail)

    def picture(address: str) -> bytes:
        part = saved.get(address.strip()) or saved.get(urljoin(url, address.strip()))
        data = part.get_payload(decode=True) if part else None
        return data if isinstance(data, bytes) else picture_in_address(address)

    pictures = EmbeddedPictures(file, picture)
    parsed = parse_page(_text(page), file.settings.access.column, pictures=pictures)
    facts = {**parsed.facts, "kind": "mhtml", "saved": _date(mail)}
    url = url if url.startswith(("https://", "http://")) else parsed.url
    return replace(parsed, title=parsed.title or _header(mail.get("Subject", "")), url=url, facts=facts)


def _pictures_of(mail: Message) -> dict[str, Message]:
    """Return the pictures of a web archive, by the addresses that its page may use for them."""
    pictures = dict[str, Message]()
    for part in mail.walk():
        if is_picture_type(part.get_content_type()):
            id, place = (_header(part.get(name, "")) for name in ("Content-ID", "Content-Location"))
            pictures |= {key: part for key in (id and f"cid:{id.strip('<>')}", place) if key}
    return pictures


def _is_encrypted(part: Message) -> bool:
    """Return whether a part of a message is encrypted, with PGP or S/MIME; one that is only signed is not."""
    kind = part.get_content_type()
    if kind in _SMIME:
        return part.get_param("smime-type") != "signed-data"
    return kind == "multipart/encrypted" or (kind == "text/plain" and _text(part).lstrip().startswith(_ARMOUR))


def _text(part: Message) -> str:
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    for encoding in (part.get_content_charset() or "utf-8", "utf-8"):
        try:
            return data.decode(encoding)
        except (LookupError, UnicodeDecodeError):
            continue
    return data.decode("cp1252", "replace")


def _header(written: object) -> str:
    """Return the words of a header, decoded."""
    text = str(written)
    with suppress(ValueError, LookupError):  # Keep the header as it is written.
        text = str(make_header(decode_header(text)))
    return " ".join(tidy(text).split())


def _date(mail: Message) -> str:
    try:
        return parsedate_to_datetime(str(mail.get("Date", ""))).isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""

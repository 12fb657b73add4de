"""E-mails (eml): the text, its sender, recipient, date and subject. Attachments become documents of their own."""

from __future__ import annotations

from contextlib import suppress
from email import message_from_bytes, policy
from email.header import decode_header, make_header
from email.message import Message
from email.utils import parsedate_to_datetime

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.html import parse_page
from ragstone.acquire.readers.parsed import File, Parsed, Part, Writer, tidy
from ragstone.core.filters import Scalar

_MOST_PARTS = 500


def parse(file: File) -> Parsed:
    """Return the text of an e-mail, preferring plain text to HTML. Its title is the subject.

    Raises:
        Unreadable: the file is no e-mail.
    """
    # The older policy, because a hostile header can keep the header grammar of the newer one busy forever.
    mail = message_from_bytes(file.path.read_bytes(), policy=policy.compat32)
    if not any(mail.get(name) for name in ("From", "To", "Subject", "Date", "Message-ID", "Content-Type")):
        raise Unreadable("not an e-mail: it has no headers")
    plain: list[str] = []
    pages: list[str] = []
    attached: list[Part] = []
    for number, part in enumerate(mail.walk()):
        if number >= _MOST_PARTS:
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
            plain.append(_text(part))
        elif kind == "text/html":
            pages.append(_text(part))
    writer = Writer()
    if any(text.strip() for text in plain):
        for text in plain:
            writer.paragraph(text)
    else:
        for page in pages:
            inner = parse_page(page)
            writer.marked(inner.text, inner.marks)
    subject = _header(mail.get("Subject", ""))
    facts: dict[str, Scalar] = {
        "kind": "eml",
        "from": _header(mail.get("From", "")),
        "to": _header(mail.get("To", "")),
        "date": _date(mail),
    }
    return writer.parsed(title=subject, facts=facts, parts=attached)


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

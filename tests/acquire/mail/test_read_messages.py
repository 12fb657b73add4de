"""Mail folders, Outlook messages, saved web pages and Word documents before 2007."""

from __future__ import annotations

import base64
import json
import random
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from structure import marked, outline

from ragstone.acquire.readers.mail.outlook import decompressed
from ragstone.chunk import split
from ragstone.core.headings import MESSAGE_LEVEL, is_earlier_message
from ragstone.core.records import Document, Skipped
from ragstone.settings import ChunkSettings

ReadOne = Callable[..., Document]
ReadAll = Callable[..., list[Document | Skipped]]
Why = Callable[..., str]

MBOX = b"""From ann@mill.example Mon May  6 07:08:09 2024
From: Ann <ann@mill.example>
To: Bob <bob@mill.example>
Subject: Wheels
Message-ID: <1@mill.example>
Date: Mon, 6 May 2024 07:08:09 +0000

>From now on the wheels turn.

From here no message begins.

From bob@mill.example Mon May  6 08:08:09 2024
From: Bob <bob@mill.example>
Subject: Re: Wheels
Message-ID: <2@mill.example>
In-Reply-To: <1@mill.example>
Content-Type: multipart/mixed; boundary=b

--b

Good.
--b
Content-Disposition: attachment; filename=list.txt

one wheel
--b--
"""


@pytest.fixture
def office(data_dir: Path) -> Path:
    return data_dir / "office" / "apache" / "dev" / "files"


def test_each_message_of_a_mail_folder_is_a_document(read_all: ReadAll) -> None:
    documents = [one for one in read_all("in.mbox", MBOX) if isinstance(one, Document)]
    assert [(one.title, one.text) for one in documents] == [
        ("Wheels", "From now on the wheels turn.\n\nFrom here no message begins."),
        ("Re: Wheels", "Good."),
        ("", "one wheel"),
    ]
    assert [one.metadata.get("thread") for one in documents] == ["1@mill.example", "1@mill.example", None]
    assert documents[0].metadata["from"] == "Ann <ann@mill.example>"
    assert documents[2].id == f"{documents[1].id}/list.txt"


QUOTING = b"""From: Ann <ann@mill.example>
Subject: Re: Wheels
%s
Dear Bob,
it costs 90.

On Mon, 6 May 2024 at 09:15, Bob
<bob@mill.example> wrote:
> Dear Ann,
> what does it cost, in
> the end?
>
> Am 5.5.2024 schrieb Ann:
>> It will cost about 80.

>> Ann
>>> On 4 May 2024, Bob wrote:
>>> What will it cost?
"""


def test_earlier_messages_stand_below_the_lines_about_them(read_one: ReadOne) -> None:
    document = read_one("a.eml", QUOTING % b"")
    assert document.text == (
        "Dear Bob,\nit costs 90.\n\n"
        "On Mon, 6 May 2024 at 09:15, Bob <bob@mill.example> wrote\n\n"
        "Dear Ann,\nwhat does it cost, in\nthe end?\n\n"
        "Am 5.5.2024 schrieb Ann\n\n"
        "It will cost about 80.\n\nAnn\n\n"
        "On 4 May 2024, Bob wrote\n\n"
        "What will it cost?"
    )
    assert {level for level, _ in outline(document)} == {MESSAGE_LEVEL}


def test_each_message_is_a_chunk_of_its_own(read_one: ReadOne) -> None:
    document = read_one("a.eml", QUOTING % b"")
    chunks = split(document, ChunkSettings(), lambda _: [])
    assert [one.text.split("\n")[0] for one in chunks] == ["Dear Bob,", *(label for _, label in outline(document))]
    assert [is_earlier_message(one) for one in chunks] == [False, True, True, True]


def test_words_below_what_they_quote_keep_its_marks(read_one: ReadOne) -> None:
    mail = b"From: a@b.example\n\nOn 4 May 2024, Bob wrote:\n> Is it round?\nYes.\n> Is it red?\nNo.\n"
    assert read_one("a.eml", mail).text == "On 4 May 2024, Bob wrote:\n> Is it round?\nYes.\n> Is it red?\nNo."


def test_flowed_lines_are_joined(read_one: ReadOne) -> None:
    kind = b"Content-Type: text/plain; format=flowed\n"
    mail = b"From: a@b.example\n" + kind + b"\nThe wheel turns \nat dawn.\n From now on.\n\n> It \n> stood.\n-- \nAnn\n"
    assert read_one("a.eml", mail).text == "The wheel turns at dawn.\nFrom now on.\n\n> It stood.\n-- \nAnn"


def test_message_keeps_its_id_when_others_go(read_all: ReadAll) -> None:
    whole = [one.id for one in read_all("in.mbox", MBOX) if isinstance(one, Document)]
    second = MBOX[MBOX.index(b"From bob@") :]
    assert [one.id for one in read_all("in.mbox", second) if isinstance(one, Document)] == whole[1:]


def test_large_message_does_not_stop_the_folder(read_all: ReadAll) -> None:
    large = b"From a Mon May  6 07:08:09 2024\nSubject: big\n\n" + b"words and more\n" * 200_000 + b"\n"
    first, *others = read_all("in.mbox", large + MBOX, max_file_mb=1)
    assert isinstance(first, Skipped)
    assert first.reason == "above acquire.max_file_mb=1"
    assert len(others) == 3


def test_skips_a_mail_folder_without_messages(why_skipped: Why) -> None:
    assert why_skipped("in.mbox", "words\n") == "not a mail folder: no message begins in it"


PGP = "-----BEGIN PGP MESSAGE-----\n\nhIwDY32hYGCE8MkBA/wOu7d45aUxF4Q0RKJ=\n-----END PGP MESSAGE-----\n"


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (
            'multipart/encrypted; boundary=b; protocol="application/pgp-encrypted"',
            "--b\nContent-Type: application/pgp-encrypted\n\nVersion: 1\n"
            f"--b\nContent-Type: application/octet-stream\n\n{PGP}\n--b--\n",
        ),
        ("application/pkcs7-mime; smime-type=enveloped-data; name=smime.p7m", "MIIB\n"),
        ("text/plain", PGP),
    ],
)
def test_says_that_an_email_is_encrypted(why_skipped: Why, kind: str, body: str) -> None:
    assert why_skipped("a.eml", f"From: a@b.example\nSubject: Wheels\nContent-Type: {kind}\n\n{body}") == "encrypted"


def test_reads_words_about_encryption(read_one: ReadOne) -> None:
    document = read_one("a.eml", f"From: a@b.example\n\nDecrypt this, please:\n\n{PGP}".encode())
    assert document.text.startswith("Decrypt this, please:")


def test_reads_messages_of_maildir(tmp_path: Path, read_all: ReadAll) -> None:
    (tmp_path / "mail" / "cur").mkdir(parents=True)
    (tmp_path / "mail" / "cur" / "1204680122.27c448.host:2,S").write_bytes(b"Subject: Wheels\n\nThey turn.\n")
    (document,) = read_all(tmp_path / "mail")
    assert isinstance(document, Document)
    assert (document.title, document.text, document.metadata["kind"]) == ("Wheels", "They turn.", "eml")


def test_reads_messages_in_utf16(read_one: ReadOne) -> None:
    for encoding in ("utf-16", "utf-16-le"):
        document = read_one("a.eml", "Subject: Ratas\nFrom: a@b.example\n\nŽodžiai.\n".encode(encoding))
        assert (document.title, document.text) == ("Ratas", "Žodžiai.")


def test_reads_saved_pages(read_one: ReadOne) -> None:
    page = b"""From: <Saved by Blink>
Snapshot-Content-Location: https://mill.example/wheels
Subject: Wheels
Date: Mon, 6 May 2024 07:08:09 +0000
Content-Type: multipart/related; boundary=b

--b
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: quoted-printable
Content-Location: https://mill.example/wheels

<html lang=3D"en"><body><h1>Wheels</h1><p>They turn.</p></body></html>
--b
Content-Type: image/png
Content-Transfer-Encoding: base64
Content-Location: https://mill.example/a.png

AAAA
--b--
"""
    document = read_one("a.mhtml", page)
    assert (document.title, document.text, document.url) == (
        "Wheels",
        "Wheels\n\nThey turn.",
        "https://mill.example/wheels",
    )
    assert (document.metadata["kind"], document.metadata["saved"]) == ("mhtml", "2024-05-06T07:08:09+00:00")


def test_reads_outlook_messages(office: Path, read_all: ReadAll) -> None:
    message, word, page = read_all(office / "tika--testMSG_att_doc.msg")
    assert isinstance(message, Document)
    assert (message.title, message.text) == ("test pièce jointe 1", "contenu")
    wanted = {"kind": "msg", "from": "Nicolas1 23456 <nicolas1.23456@free.fr>", "date": "2009-04-22T14:36:33"}
    assert {key: message.metadata[key] for key in wanted} == wanted
    assert isinstance(word, Document)
    assert word.metadata["kind"] == "doc"
    assert isinstance(page, Document)


@pytest.mark.parametrize(
    ("name", "subject", "text"),
    [
        ("poi--ASCII_CP1251_LCID1049.msg", "Subject автоматически Subject", "Body автоматически Body"),
        ("poi--ASCII_UTF-8_CP1252_LCID1031_HTML.msg", "Subject öäü Subject", "Body öäü Body"),
        ("poi--HTMLBodyBinary_CP1251.msg", "Subject öäü Subject", "HTML автоматически"),
    ],
)
def test_decodes_outlook_messages(office: Path, read_one: ReadOne, name: str, subject: str, text: str) -> None:
    document = read_one(office / name)
    assert (document.title, document.text) == (subject, text)


def test_decompresses_rich_text_of_outlook() -> None:
    # The example of [MS-OXRTFCP].
    packed = bytes.fromhex(
        "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0"
    )
    assert decompressed(packed) == b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"


def test_reads_old_word(office: Path, read_one: ReadOne) -> None:
    document = read_one(office / "poi--SampleDoc.doc")
    assert "I am a test document" in document.text
    assert document.metadata["kind"] == "doc"
    assert "author" in document.metadata


TWINS = ("poi--HeaderFooterUnicode", "poi--SampleDoc", "poi--SimpleHeadThreeColFoot", "poi--capitalized")


def test_old_word_gives_the_words_of_its_newer_twin(office: Path, read_one: ReadOne) -> None:
    truth = map(json.loads, (office.parent / "truth.jsonl").read_text(encoding="utf-8").splitlines())
    twins = {one["file"]: one["twin_text"] for one in truth}
    for name in TWINS:
        text = read_one(office / f"{name}.doc").text
        assert sorted(set(text.split())) == sorted(set(twins[f"files/{name}.doc"].split())), name


def test_old_word_has_headings_and_tables(data_dir: Path, office: Path, read_one: ReadOne) -> None:
    greek = read_one(data_dir / "office" / "mixed" / "dev" / "files" / "docling--greek_heading_styles.doc")
    assert next(words for _, words in outline(greek)) == "Problem mit lokalisierten Dokumenten"
    lists = read_one(office / "tika--testWORD_numbered_list.doc")
    assert any("cell" in table.lower() for table in marked(lists, "table"))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("poi--PasswordProtected.doc", "encrypted"),
        ("tika--testWordPerfect_42.doc", "binary, not text"),
        ("poi--blank.msg", "empty"),
    ],
)
def test_says_why_old_office_files_give_nothing(office: Path, why_skipped: Why, name: str, reason: str) -> None:
    assert why_skipped(office / name) == reason


@pytest.mark.parametrize("content", [b"{\\rtf1 words}", b"<html><body>words</body></html>", b"words"])
def test_other_formats_under_the_name_of_word(read_one: ReadOne, content: bytes) -> None:
    assert read_one("a.doc", content).text == "words"


@pytest.mark.parametrize(
    "name", ["poi--SampleDoc.doc", "poi--Word95.doc", "poi--example_sent_regular.msg", "poi--HTMLBodyBinary_CP1251.msg"]
)
def test_damaged_compound_files_stop_nothing(tmp_path: Path, office: Path, read_all: ReadAll, name: str) -> None:
    chance = random.Random(name)
    whole = (office / name).read_bytes()
    for number in range(12):
        data = bytearray(whole)
        for _ in range(chance.choice([1, 10, 200])):
            data[chance.randrange(len(data))] = chance.randrange(256)
        cut = data if number % 3 else data[: chance.randrange(len(data))]
        (tmp_path / f"{number:02}.{name.rpartition('.')[2]}").write_bytes(cut)
    results = read_all(tmp_path)
    assert len(results) >= 12
    assert not any(isinstance(one, Skipped) and "crashed" in one.reason for one in results)


HTML_PART = "<p>Your appointment is on 14 July at 9:30 in room 12, on the second floor of the town hall.</p>"


def alternative(plain: str, page: str = HTML_PART) -> str:
    return (
        "Subject: Reminder\nContent-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/plain\n\n"
        f"{plain}\n--b\nContent-Type: text/html\n\n{page}\n--b--\n"
    )


@pytest.mark.parametrize(
    ("plain", "begins", "lacks"),
    [
        ("Please enable HTML to view this message.", "Your appointment is on 14 July", "enable HTML"),
        (
            "Your appointment: 14 July at 9:30 in room 12, second floor of the town hall",
            "Your appointment: 14",
            " is on",
        ),
    ],
)
def test_reads_the_part_of_a_mail_that_says_more(read_one: ReadOne, plain: str, begins: str, lacks: str) -> None:
    text = read_one("a.eml", alternative(plain)).text
    assert text.startswith(begins)
    assert lacks not in text


CALENDAR = """BEGIN:VCALENDAR
BEGIN:VTIMEZONE
DTSTART:19700101T000000
END:VTIMEZONE
BEGIN:VEVENT
DTSTART;TZID=Europe/Vilnius:20240912T080000
SUMMARY:Keel party
LOCATION:Dock 4\\, north side
ORGANIZER;CN=Ann Berg:mailto:ann@x.example
DESCRIPTION:Bring the long
 er rope.\\nCall Ann.
BEGIN:VALARM
DESCRIPTION:Alarm
END:VALARM
END:VEVENT
END:VCALENDAR
"""
SHOWN = (
    "Start: 2024-09-12 08:00 Europe/Vilnius\nLocation: Dock 4, north side\nOrganizer: Ann Berg\n"
    "Bring the longer rope.\nCall Ann."
)


def test_reads_calendars_and_invitations(read_one: ReadOne) -> None:
    document = read_one("a.ics", CALENDAR)
    assert document.text == f"Keel party\n\n{SHOWN}"
    assert outline(document) == [(1, "Keel party")]
    mail = f"Subject: Invite\nContent-Type: text/calendar; charset=utf-8\n\n{CALENDAR}"
    assert read_one("a.eml", mail).text == f"Keel party\n{SHOWN}"


def test_reads_address_books(read_one: ReadOne) -> None:
    card = "BEGIN:VCARD\nFN:Ida Falk\nORG:Harbour;Pilots\nTEL;TYPE=work:555-0101\nADR:;;Quay 1;Port;;;\nEND:VCARD\n"
    expected = "Ida Falk\n\nOrganization: Harbour, Pilots\nPhone: 555-0101\nAddress: Quay 1, Port"
    assert read_one("a.vcf", card).text == expected


# ---------------------------------------------------------------- winmail.dat


def tnef(*attributes: tuple[int, bytes]) -> bytes:
    packed = b"".join(struct.pack("<BHHI", 1, name, 0, len(value)) + value + b"\0\0" for name, value in attributes)
    return struct.pack("<IH", 0x223E9F78, 1) + packed


def property_of(number: int, kind: int, value: bytes) -> bytes:
    return struct.pack("<HHII", kind, number, 1, len(value)) + value + bytes(-len(value) % 4)


WORDS = property_of(0x1013, 0x102, b"<html><body><h1>Mill</h1><p>The \xc5\xbdiema mill grinds.</p></body></html>")
NAMED_NUMBER = struct.pack("<HH16sIII", 3, 0x8001, b"", 0, 7, 7)
MESSAGE = tnef(
    (0x9007, struct.pack("<II", 1257, 0)),
    (0x8004, "Žiema\0".encode("cp1257")),
    (0x9003, struct.pack("<I", 2) + NAMED_NUMBER + WORDS),
    (0x9002, bytes(14)),
    (0x8010, b"REPORT~1.TXT\0"),
    (0x800F, b"The wheel weighs 4 t."),
    (0x9005, struct.pack("<I", 1) + property_of(0x3707, 31, "report of May.txt".encode("utf-16-le"))),
    (0x9002, bytes(14)),
    (0x8010, b"inner\0"),
)


def test_reads_what_outlook_packed(read_all: ReadAll) -> None:
    mail = f"""From: a@b.example
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=X

--X
Content-Type: text/plain

See the report.
--X
Content-Type: application/ms-tnef; name="winmail.dat"
Content-Transfer-Encoding: base64
Content-Disposition: attachment; filename="winmail.dat"

{base64.encodebytes(MESSAGE).decode()}
--X--
"""
    found = [one for one in read_all("a.eml", mail) if isinstance(one, Document)]
    assert [(one.id, one.title) for one in found] == [
        ("a.eml", ""),
        ("a.eml/winmail.dat", "Žiema"),
        ("a.eml/winmail.dat/report of May.txt", ""),
    ]
    assert [one.text for one in found[1:]] == ["Mill\n\nThe Žiema mill grinds.", "The wheel weighs 4 t."]
    assert found[1].metadata["partial"] == "1 attachment was left out"


def test_rich_text_of_outlook_keeps_its_tables(read_one: ReadOne) -> None:
    row = r"\trowd\cellx900\cellx1800 %s\cell %s\cell\row "
    rtf = (r"{\rtf1 Before\par " + row % ("Part", "Kg") + row % ("Mill", "4") + r"\pard After}").encode()
    packed = struct.pack("<4I", len(rtf) + 12, len(rtf), 0x414C454D, 0) + rtf  # not compressed
    content = tnef((0x9003, struct.pack("<I", 1) + property_of(0x1009, 0x102, packed)))
    assert marked(read_one("winmail.dat", content), "table") == ["Part | Kg\nMill | 4"]


@pytest.mark.parametrize("seed", range(5))
def test_damaged_winmail_stops_nothing(read_all: ReadAll, seed: int) -> None:
    chance, data = random.Random(seed), bytearray(MESSAGE)
    for _ in range(20):
        data[chance.randrange(6, len(data))] = chance.randrange(256)
    read_all("winmail.dat", bytes(data[: chance.randrange(40, len(data))]))

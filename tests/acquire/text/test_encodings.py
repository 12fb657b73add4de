"""Text files that are not Unicode."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ragstone.core.records import Document

RUSSIAN = "Насос номер три потерял давление. Откройте вентиль и проверьте уровень воды."
KOREAN = "항구는 오전 여덟 시에 열립니다. 선장은 먼저 사무실에 등록해야 합니다."


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("港口上午八点开放，费用为三百元。星期日不开放。", "gb18030"),
        ("港口上午八點開放，船長必須先到辦公室登記。費用按照船的長度計算。", "big5"),
        (KOREAN, "cp949"),
        ("港は午前八時に開きます。船長はまず事務所で登録しなければなりません。", "cp932"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8_r"),
        ("Το λιμάνι ανοίγει στις οκτώ το πρωί. Ο καπετάνιος πρέπει πρώτα να εγγραφεί.", "cp1253"),
    ],
)
def test_finds_the_encoding_of_other_scripts(read_one: Callable[..., Document], text: str, encoding: str) -> None:
    document = read_one("a.txt", text.encode(encoding))
    assert document.text == text
    assert document.metadata["decoding"] == f"{encoding}, guessed"


def test_western_text_is_windows_1252(read_one: Callable[..., Document]) -> None:
    text = "Der Hafen öffnet um acht Uhr. Die Gebühr hängt von der Länge ab."
    document = read_one("a.txt", text.encode("cp1252"))
    assert (document.text, document.metadata["decoding"]) == (text, "windows-1252, guessed")


def test_refuses_an_unclear_encoding(why_skipped: Callable[..., str]) -> None:
    reason = why_skipped("a.txt", RUSSIAN.encode("cp866"))
    assert reason == "its encoding is unclear; name it, as in --set acquire.encoding=gb18030, or save it as UTF-8"


def test_reads_the_encoding_that_a_setting_names(read_one: Callable[..., Document]) -> None:
    document = read_one("a.txt", RUSSIAN.encode("cp866"), encoding="cp866")
    assert document.text == RUSSIAN
    assert "decoding" not in document.metadata


def test_leaves_out_codes_of_terminals(read_one: Callable[..., Document]) -> None:
    log = "\x1b[31mERROR\x1b[0m 10:09 \x1b[1;4mpump-3\x1b[0m lost\n\x1b]0;title\x07end\n"
    assert read_one("a.log", log).text == "ERROR 10:09 pump-3 lost\nend\n"

"""What is hidden in the texts of servers."""

from __future__ import annotations

from ragstone.services.secrets import without_secret


def test_hides_a_key_and_no_part_of_a_word() -> None:
    assert without_secret("the key sk-12345678 is wrong", "sk-12345678") == "the key *** is wrong"
    assert without_secret("Name or service not known", "k") == "Name or service not known"
    assert without_secret("nothing", "") == "nothing"

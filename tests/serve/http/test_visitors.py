"""Who counts as one visitor, and which settings of the chat on other sites contradict each other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pydantic import ValidationError

from ragstone.core.errors import UsageError
from ragstone.history.journal import Journal
from ragstone.history.keys import Keys
from ragstone.history.sessions import Sessions, name_at
from ragstone.history.tokens import Tokens
from ragstone.history.users import Users
from ragstone.serve.http.visitors import ANONYMOUS, Visitors
from ragstone.settings import ServeSettings
from ragstone.settings.serve import WidgetSettings

SITE = "https://shop.example"


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(Journal(tmp_path)) as journal:
        yield journal


def visitors(journal: Journal) -> Visitors:
    settings = WidgetSettings(enabled=True, origins=(SITE,), anonymous=True)
    return Visitors(journal, settings, lambda id: Keys(journal).ring().in_force(id))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("10.1.2.3", "10.1.2.3", True),
        ("10.1.2.3", "10.1.2.4", False),
        ("2001:db8::1", "2001:db8:0:0:ffff::9", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("fe80::1%eth0", "fe80::1%eth1", True),
        ("::ffff:10.1.2.3", "::ffff:10.1.2.4", False),
        ("", "", True),
    ],
)
def test_tells_visitors_without_a_token_apart(journal: Journal, one: str, other: str, *, same: bool) -> None:
    first, second = (visitors(journal).caller("", address) for address in (one, other))
    assert first.reader == second.reader == ANONYMOUS
    assert (first.name == second.name) is same


def test_tells_visitors_of_sites_apart(journal: Journal) -> None:
    """Whatever two sites call their visitors, they are others, and each site pays for its own."""
    (shop, _), (bank, _) = (Keys(journal).make(name, ["tokens"]) for name in ("shop", "bank"))
    texts = [Tokens(journal).make(key, visitor, [], 60) for key in (shop, bank) for visitor in ("7", "8")]
    callers = [visitors(journal).caller(f"Bearer {text}", "10.1.2.3") for text in texts]
    assert len({one.reader.name for one in callers}) == len({one.name for one in callers}) == 4
    assert [one.charged and one.charged.name for one in callers] == ["shop", "shop", "bank", "bank"]
    assert all(one.reader.groups == frozenset() and one.scopes == {"read"} for one in callers)


@pytest.mark.parametrize("name", ["visitors", "Visitors", " visitors ", "visitor:1a2b3c4d:ann", "VISITOR:x"])
def test_nobody_has_the_name_of_visitors(journal: Journal, name: str) -> None:
    with pytest.raises(UsageError, match="reserved for visitors"):
        Keys(journal).make(name, ["read"])
    with pytest.raises(UsageError):
        Users(journal).add(name, "correct horse battery", ["read"])
    assert not Keys(journal).all()
    assert not Users(journal).all()
    assert Keys(journal).make("visitors of the mill", ["read"])[0].name == "visitors of the mill"


def test_no_person_of_a_provider_is_a_visitor(journal: Journal) -> None:
    token = Sessions(journal).begin(name_at("https://id.example", "visitors"), "visitors", "oidc", ("read",), (), 600)
    found = Sessions(journal).find(token, 600)
    assert found
    assert found[0].reader.who != ANONYMOUS.who
    assert found[0].key.id != visitors(journal).together.id


def test_settings_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ValidationError, match="set origins, too"):
        WidgetSettings(enabled=True)
    with pytest.raises(ValidationError, match=r"https://shop.example is in origins and in widget.origins"):
        ServeSettings(origins=(SITE,), widget=WidgetSettings(enabled=True, origins=(SITE,)))
    with pytest.raises(ValidationError, match=r"\* is not allowed"):
        WidgetSettings(enabled=True, origins=("*",))

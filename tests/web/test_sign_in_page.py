"""People sign in on the page, through a provider or with a password, and sign out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import expect
from served import Visit, served

from ragstone.history.journal import Journal
from ragstone.history.users import Users
from servers.oidc_server import CLIENT, SECRET, OidcServer

Open = Callable[..., Visit]
PASSWORD = "correct horse battery"
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}


@pytest.fixture(scope="module")
def provider() -> Iterator[OidcServer]:
    with OidcServer() as provider:
        provider.people = {"grace": {"sub": "7", "name": "Grace Hopper", "groups": ["staff"]}}
        yield provider


@pytest.fixture(scope="module")
def url(kb: Path, provider: OidcServer) -> Iterator[str]:
    """The address of a server where Ada signs in with a password, and others through Acme."""
    own = kb.with_name("people")
    with closing(Journal(own)) as journal:
        Users(journal).add("ada", PASSWORD, ["read", "admin"])
    settings = {"issuer": provider.issuer, "client_id": CLIENT, "client_secret_env": "OIDC_SECRET", "name": "Acme"}
    changes = [word for name, value in settings.items() for word in ("--set", f"serve.oidc.{name}={value}")]
    changes += [
        "--set",
        f"serve.sources=[{kb.parent / 'docs'}]",
        "--set",
        "learning.mode=gated",
        "--set",
        "serve.web_pages=true",
    ]
    with served(own, *changes, OIDC_SECRET=SECRET) as url:
        yield url


def test_a_provider_signs_people_in(url: str, provider: OidcServer, visit: Open) -> None:
    at = visit(url, at="#/sources", allow="401", trusted=provider.issuer)
    expect(at.page.get_by_role("heading", name="Sign in to Ragstone")).to_be_focused()
    assert at.violations() == []
    at.page.get_by_role("link", name="Sign in with Acme").click()
    at.page.get_by_label("Person").fill("grace")
    at.page.get_by_role("button", name="Go on").click()
    expect(at.page.get_by_role("list", name="Documents").get_by_role("listitem")).to_have_count(5)
    assert at.page.url == f"{url}/#/sources"
    expect(at.page.get_by_title("Signed in as Grace Hopper")).to_be_visible()
    assert at.violations() == []
    assert at.page.evaluate("document.cookie + Object.values(localStorage) + Object.values(sessionStorage)") == "system"
    at.page.get_by_role("button", name="Sign out").click()
    expect(at.page.get_by_role("heading", name="Sign in to Ragstone")).to_be_visible()


def test_a_password_signs_people_in(url: str, visit: Open) -> None:
    at = visit(url, allow="401", color_scheme="dark", **PHONE)
    at.page.get_by_label("User name").fill("ada")
    at.page.get_by_label("Password").fill("a wrong password")
    at.page.get_by_role("button", name="Sign in", exact=True).tap()
    expect(at.page.get_by_role("alert")).to_have_text("The user name or the password is wrong.")
    assert at.violations() == []
    at.page.get_by_label("Password").fill(PASSWORD)
    at.page.get_by_role("button", name="Sign in", exact=True).tap()
    at.ask("What did the Romans ship down the river Medway?")
    at.page.get_by_role("button", name="Menu").tap()
    expect(at.page.get_by_text("ada", exact=True)).to_be_in_viewport()
    assert at.violations() == []
    at.page.get_by_role("button", name="Sign out").tap()
    expect(at.page.get_by_label("User name")).to_be_visible()


def test_a_person_changes_their_password(url: str, kb: Path, visit: Open) -> None:
    with closing(Journal(kb.with_name("people"))) as journal:
        Users(journal).add("bea", PASSWORD, ["read"])
    at = visit(url, allow="401|400|422")
    new = "a better battery horse"

    def sign_in(password: str) -> None:
        at.page.get_by_label("User name").fill("bea")
        at.page.get_by_label("Password").fill(password)
        at.page.get_by_role("button", name="Sign in", exact=True).click()

    sign_in(PASSWORD)
    at.page.get_by_role("button", name="Change password").click()
    dialog = at.page.get_by_role("dialog", name="Change password")
    assert at.violations() == []
    dialog.get_by_label("Current password").fill("not the password")
    dialog.get_by_label("New password").fill(new)
    dialog.get_by_role("button", name="Change password").click()
    expect(dialog.get_by_role("alert")).to_have_text("The current password is wrong.")
    dialog.get_by_label("Current password").fill(PASSWORD)
    dialog.get_by_role("button", name="Change password").click()
    expect(dialog).to_have_count(0)
    at.ask("What did the Romans ship down the river Medway?")
    at.page.get_by_role("button", name="Sign out").click()
    sign_in(new)
    expect(at.page.get_by_title("Signed in as bea")).to_be_visible()


def test_tells_why_a_sign_in_failed_and_takes_keys(url: str, visit: Open) -> None:
    at = visit(url, at="#/sign-in/not_allowed", allow="401", locale="de")
    expect(at.page.get_by_role("alert")).to_contain_text(re.compile("keinen Zugang"))
    at.page.get_by_role("button", name="Stattdessen einen API-Schlüssel verwenden").click()
    expect(at.page.get_by_role("dialog").get_by_label("Schlüssel", exact=True)).to_be_focused()
    assert at.violations() == []


TABS = ("Overview", "People", "Keys", "Jobs", "Learning", "Settings", "System", "Log")


def administering(visit: Open, url: str, **options: object) -> Visit:
    """Sign Ada in and open the administration."""
    at = visit(url, at="#/admin", allow="401", **options)
    at.page.get_by_label("User name").fill("ada")
    at.page.get_by_label("Password").fill(PASSWORD)
    at.page.get_by_label("Password").press("Enter")
    expect(at.page.get_by_role("heading", name="Administration")).to_be_visible()
    return at


def test_an_administrator_looks_after_keys_and_people(url: str, visit: Open) -> None:
    at = administering(visit, url)
    page = at.page
    page.get_by_role("link", name="Keys").click()
    page.locator("summary", has_text="Make a key").click()
    page.get_by_label("Owner or purpose").fill("robot")
    page.get_by_role("button", name="Make a key").click()
    secret = page.get_by_role("status").locator("code")
    expect(secret).to_have_text(re.compile(r"rgs_[\w-]+"))
    assert at.violations() == []
    page.reload()
    expect(page.get_by_role("rowheader", name="robot")).to_be_visible()
    expect(secret).to_have_count(0)
    page.get_by_role("button", name="Revoke the key: robot").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_role("row", name="robot")).to_contain_text("revoked")

    page.get_by_role("link", name="People").click()
    page.locator("summary", has_text="Add a person").click()
    page.get_by_label("User name").fill("bob")
    page.get_by_label("First password").fill(PASSWORD)
    page.get_by_label("public documents and those of").check()
    page.get_by_label("Groups").fill("hr, staff")
    page.get_by_role("button", name="Add a person").click()
    bob = page.get_by_role("row", name="bob")
    expect(bob).to_contain_text("hr, staff")
    bob.get_by_role("button", name="Change bob").click()
    page.get_by_role("dialog").get_by_label("add and remove").check()
    assert at.violations() == []
    page.get_by_role("dialog").get_by_role("button", name="Change").click()
    expect(bob).to_contain_text("ask and read, add and remove")
    bob.get_by_role("button", name="Remove bob").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(bob).to_have_count(0)

    page.get_by_role("link", name="Log").click()
    acts = ["removed a person", "changed a person", "added a person", "revoked a key", "made a key"]
    rows = page.get_by_role("table").get_by_role("row")
    for row, act in enumerate(acts, start=1):
        expect(rows.nth(row)).to_contain_text(re.compile(f"ada.*{act}"))


def test_an_administrator_sets_schedules_settings_and_trials(url: str, visit: Open) -> None:
    page = administering(visit, url).page
    tabs = page.get_by_role("navigation", name="Administration")
    tabs.get_by_role("link", name="Jobs").click()
    row = page.get_by_role("table").first.get_by_role("row").nth(1)
    row.get_by_label(re.compile("Schedule: ")).select_option("every 6 hours")
    expect(row.get_by_role("cell").first).to_have_text("\u2013")
    row.get_by_role("button", name=re.compile("Sync: ")).click()
    expect(page.get_by_role("table").nth(1)).to_contain_text("done")
    expect(row.get_by_role("cell").first).to_contain_text("done", timeout=3_000)
    row.get_by_role("button", name=re.compile("Pause: ")).click()
    expect(row).to_contain_text("paused")
    row.get_by_role("button", name=re.compile("Resume: ")).click()
    expect(row).not_to_contain_text("paused")

    page.locator("summary", has_text="Add a source").click()
    page.get_by_label("Web site, Git repository").fill("https://docs.example/")
    page.get_by_role("button", name="Add a source").click()
    added = page.get_by_role("row", name="https://docs.example/")
    added.get_by_label("Schedule: https://docs.example/").select_option("every 7 days")
    added.get_by_role("button", name="Remove https://docs.example/").click()
    expect(added).to_have_count(0)

    tabs.get_by_role("link", name="Settings").click()
    expect(page.get_by_text("Passages that an answer can rest on")).to_be_visible()
    field = page.get_by_label("New value: rank.top_k")
    field.fill("3")
    page.get_by_role("button", name="Change rank.top_k").click()
    top_k = page.get_by_role("row", name=re.compile("rank.top_k"))
    expect(top_k).to_contain_text("3 \u00b7 just now")
    page.get_by_role("button", name="As configured: rank.top_k").click()
    expect(top_k).not_to_contain_text("just now")

    tabs.get_by_role("link", name="Learning").click()
    page.get_by_label("Value", exact=True).fill("2")
    page.get_by_role("button", name="Start a trial").click()
    expect(page.get_by_role("cell", name=re.compile("top_k .* 2")).first).to_be_visible()
    page.get_by_role("button", name="Use version 1").click()
    page.get_by_role("button", name="Use version 0").click()
    expect(page.get_by_role("button", name="Use version 1")).to_be_visible()

    tabs.get_by_role("link", name="Log").click()
    acts = ["went back to a policy", "put a policy in use", "started a trial", "changed a setting", "changed a setting"]
    rows = page.get_by_role("table").get_by_role("row")
    acts += [
        "removed a source",
        "set a schedule",
        "added a source",
        *["set a schedule"] * 2,
        "synced sources",
        "set a schedule",
    ]
    for at, act in enumerate(acts, start=1):
        expect(rows.nth(at)).to_contain_text(re.compile(f"ada.*{act}"))


def test_administration_is_accessible_on_desktop_and_phone(url: str, visit: Open) -> None:
    at = administering(visit, url)
    at.page.get_by_role("link", name="New conversation").click()
    at.ask("How much is a train ticket to Vilnius?")
    at.page.get_by_role("link", name="Administration").click()
    expect(at.page.get_by_role("rowheader", name="How much is a train ticket to Vilnius?")).to_be_visible()
    expect(at.page.get_by_role("figure")).to_have_count(2)
    for name in TABS:
        link = at.page.get_by_role("navigation", name="Administration").get_by_role("link", name=name)
        link.click()
        expect(link).to_have_attribute("aria-current", "page")
        if name == "System":
            at.page.get_by_role("button", name="Test the models").click()
            expect(at.page.get_by_role("cell", name="works")).to_be_visible()
        assert at.violations() == []
    small = administering(visit, url, color_scheme="dark", **PHONE)
    for name in ("Overview", "People", "Jobs", "Collections", "System"):
        small.page.get_by_role("link", name=name).click()
        if name in ("Overview", "People", "Jobs"):
            expect(small.page.get_by_role("table").first).to_be_attached()
        assert small.violations() == []
        cut = "[...document.querySelectorAll(':root, .wide')].some((one) => one.scrollWidth > one.clientWidth)"
        assert not small.page.evaluate(cut)

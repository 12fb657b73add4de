"""Conversations on the page: names, pins, search, saving, printing, asking again; and the languages of the page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from served import Visit, served

Open = Callable[..., Visit]
ROMANS = "What did the Romans ship down the river Medway?"
SLATE = "Why are roofs made of slate?"
PRINT = """window.print = () => {
    document.documentElement.dataset.printed = document.querySelectorAll(".turn-foot").length;
}"""
TOLD = {
    "de": ("Fragen Sie Ihre Dokumente", "Neues Gespräch", "Quellen"),
    "lt": ("Klauskite savo dokumentų", "Naujas pokalbis", "Šaltiniai"),
    "ms": ("Tanya dokumen anda", "Perbualan baharu", "Sumber"),
}


@pytest.fixture(scope="module")
def talked(kb: Path) -> Iterator[str]:
    """The address of a server of these tests' own, in whose knowledge base nobody else has conversations."""
    with served(kb.with_name("talked")) as url:
        yield url


def listed(at: Visit) -> list[str]:
    return at.page.get_by_role("list", name="Conversations").locator(".clip").all_inner_texts()


def more(at: Visit, title: str) -> None:
    at.page.get_by_role("button", name=f"More: {title}").first.click()


def test_conversations_are_renamed_pinned_and_found(talked: str, visit: Open) -> None:
    at = visit(talked)
    for question in (ROMANS, SLATE, "What is BM25?", "Was ist BM25?", "What is sandstone made of?"):
        at.ask(question)
        at.page.get_by_role("link", name="New conversation").click()
        expect(at.page.locator("article.turn")).to_have_count(0)
    more(at, ROMANS)
    dialog = at.page.get_by_role("dialog", name="Conversation")
    assert at.violations() == []
    dialog.get_by_label("Title").fill("Of ships")
    dialog.get_by_label("Keep it at the top").check()
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(dialog).to_have_count(0)
    expect(at.page.get_by_role("list", name="Conversations").get_by_role("listitem").first).to_contain_text("Of ships")
    at.page.reload()
    first = at.page.get_by_role("list", name="Conversations").get_by_role("listitem").first
    expect(first).to_contain_text("Of ships")
    expect(first).to_contain_text("Pinned")
    at.page.get_by_label("Find a conversation").fill("BM25")
    expect(at.page.get_by_role("list", name="Conversations").get_by_role("listitem")).to_have_count(2)
    assert at.violations() == []
    at.page.get_by_label("Find a conversation").fill("thin SHEETS")
    expect(at.page.get_by_role("list", name="Conversations").get_by_role("listitem")).to_have_count(1)
    expect(at.page.get_by_role("list", name="Conversations")).to_contain_text(SLATE)
    at.page.get_by_label("Find a conversation").fill("zeppelin")
    expect(at.page.get_by_text("No conversation has these words.")).to_be_visible()


def test_conversations_are_saved_and_printed(talked: str, visit: Open, tmp_path: Path) -> None:
    at = visit(talked)
    at.page.add_init_script(PRINT)
    at.page.reload()
    at.ask(ROMANS)
    for label, suffix in (("Save as Markdown", "md"), ("Save as JSON", "json")):
        more(at, ROMANS)
        with at.page.expect_download() as saving:
            at.page.get_by_role("button", name=label).click()
        saving.value.save_as(tmp_path / f"saved.{suffix}")
        at.page.keyboard.press("Escape")
    text = (tmp_path / "saved.md").read_text(encoding="utf-8")
    assert text.startswith(f"# {ROMANS}\n\n## {ROMANS}\n")
    assert "[1] 🪨 A guide to stone 🧱" in text
    saved = json.loads((tmp_path / "saved.json").read_text(encoding="utf-8"))
    assert saved["turns"][0]["complete"]["citations"][0]["document_id"].endswith("guide.md")
    more(at, ROMANS)
    at.page.get_by_role("button", name="Print").click()
    expect(at.page.locator("html")).to_have_attribute("data-printed", "1")
    at.page.emulate_media(media="print")
    expect(at.page.locator("nav.sidebar")).to_be_hidden()
    expect(at.page.locator("form.composer")).to_be_hidden()
    expect(at.page.locator(".card-quote").first).to_be_visible()


def test_a_conversation_is_shared_and_gone_on_with(talked: str, visit: Open) -> None:
    at = visit(talked)
    at.ask(SLATE)
    more(at, SLATE)
    at.page.get_by_role("button", name="Make a link").click()
    link = at.page.get_by_label("Link to this conversation").input_value()
    assert link.startswith(f"{talked}/#/s/")
    assert at.violations() == []
    at.page.keyboard.press("Escape")
    at.page.goto(link)
    expect(at.page.get_by_role("heading", name="Shared conversation", level=1)).to_be_visible()
    turn = at.page.locator("article.turn")
    expect(turn).to_contain_text("thin sheets")
    expect(turn.get_by_role("button", name="Good answer")).to_have_count(0)
    assert at.violations() == []
    turn.locator(".cards button").first.click()
    expect(at.page.get_by_role("complementary").locator("mark").first).to_contain_text("thin sheets")
    at.page.get_by_role("button", name="Continue in your own copy").click()
    expect(at.page.locator("form.composer")).to_be_visible()
    expect(at.page.locator("article.turn")).to_contain_text("thin sheets")


def test_questions_are_edited_and_followed(talked: str, visit: Open) -> None:
    at = visit(talked)
    turn = at.ask(ROMANS)
    turn.get_by_role("button", name="Edit the question").click()
    box = at.page.get_by_label("Question", exact=True)
    expect(box).to_be_focused()
    expect(box).to_have_value(ROMANS)
    near = at.page.get_by_role("list", name="More in this document").get_by_role("button", name="Slate")
    expect(near).to_be_in_viewport()
    near.click()
    expect(at.page.locator("article.turn").nth(1).locator("h2")).to_have_text("Slate")
    expect(at.page.locator("article.turn").nth(1)).to_contain_text("thin sheets")
    expect(at.page.locator("article.turn").nth(1).locator("h2 + p")).to_have_text("guide.md")
    expect(at.page.get_by_role("button", name="Slate", exact=True)).to_have_count(0)


def test_first_questions_are_answered_by_their_documents(talked: str, visit: Open) -> None:
    at = visit(talked)
    first = at.page.get_by_role("list", name="Suggested questions").get_by_role("button")
    expect(first.first).to_be_visible()
    questions = first.all_inner_texts()
    assert len(set(questions)) == len(questions) >= 3
    first.last.click()
    turn = at.page.locator("article.turn")
    expect(turn.get_by_role("button", name="Citation 1")).to_be_visible()
    expect(turn).to_contain_text("Confidence")


def test_a_collection_is_made_and_chosen(talked: str, visit: Open) -> None:
    at = visit(talked, at="#/admin/collections", allow="400")
    page = at.page
    page.locator("summary", has_text="Add a collection").click()
    page.get_by_label("Name").fill("Articles")
    page.get_by_label("Documents, as a filter").fill("kind = csv")
    page.get_by_label("First questions").fill("What is BM25?")
    assert at.violations() == []
    page.get_by_role("button", name="Add a collection").click()
    expect(page.get_by_role("row", name="Articles")).to_contain_text("everybody")
    page.get_by_label("Name").fill("Articles")
    page.get_by_label("Documents, as a filter").fill("kind = csv and language = en")
    page.get_by_role("button", name="Add a collection").click()
    asked = page.get_by_role("dialog", name="Replace: Articles")
    assert at.violations() == []
    asked.get_by_role("button", name="Keep it").click()
    expect(page.get_by_role("row", name="Articles")).not_to_contain_text("language")
    page.get_by_label("Documents, as a filter").fill("folder = articles")
    page.get_by_label("Name").fill("Folder")
    page.get_by_role("button", name="Add a collection").click()
    expect(page.get_by_role("alert")).to_contain_text("no document has a field 'folder'; fields are ")
    page.get_by_role("link", name="New conversation").click()
    page.get_by_role("combobox", name="Collection").select_option("Articles")
    expect(page.get_by_role("heading", name="Articles")).to_be_visible()
    expect(page.get_by_role("list", name="Suggested questions").get_by_role("button")).to_have_count(1)
    expect(page.locator(".welcome .count")).to_have_text("3 documents")
    assert at.violations() == []
    turn = at.ask("Why are roofs made of slate?")
    assert turn.locator(".refusal").count() == 1, "no article says it"
    expect(turn.locator("p").first).to_have_text("Articles")
    page.get_by_role("combobox", name="Collection").select_option("")
    turn = at.ask("Why are roofs made of slate, and not of wood?")
    expect(turn.get_by_role("button", name="Citation 1")).to_be_visible()
    page.goto(f"{talked}/#/admin/collections")
    page.get_by_role("button", name="Change Articles").click()
    form = page.get_by_role("dialog", name="Change Articles")
    expect(form.get_by_label("First questions")).to_have_value("What is BM25?")
    form.get_by_label("Documents, as a filter").fill("kind = csv and language = en")
    assert at.violations() == []
    form.get_by_role("button", name="Change").click()
    expect(page.get_by_role("row", name="Articles")).to_contain_text("language = en")
    page.get_by_role("button", name="Remove Articles").click()
    expect(page.get_by_role("row", name="Articles")).to_have_count(0)


def test_invites_to_connect_a_model_once(talked: str, visit: Open) -> None:
    at = visit(talked)
    link = at.page.get_by_role("link", name="Connect a model")
    expect(link).to_be_visible()
    assert at.violations() == []
    at.page.get_by_role("button", name="Do not show this again").click()
    expect(link).to_have_count(0)
    at.page.reload()
    expect(at.page.get_by_role("list", name="Suggested questions")).to_be_visible()
    expect(link).to_have_count(0)


@pytest.mark.parametrize("language", [*TOLD])
def test_the_browser_chooses_the_language(talked: str, visit: Open, language: str) -> None:
    heading, fresh, sources = TOLD[language]
    at = visit(talked, locale=f"{language}-XX")
    expect(at.page.get_by_role("heading", name=heading)).to_be_visible()
    expect(at.page.locator("html")).to_have_attribute("lang", language)
    expect(at.page.get_by_role("link", name=fresh)).to_be_visible()
    at.page.get_by_role("link", name=sources).click()
    expect(at.page.get_by_role("heading", name=sources)).to_be_visible()
    assert at.violations() == []


def test_the_language_is_switched_and_kept(talked: str, visit: Open) -> None:
    at = visit(talked, locale="fr-FR")
    expect(at.page.get_by_role("heading", name="Ask your documents")).to_be_visible()
    at.page.get_by_label("Question", exact=True).fill("half a question")
    at.page.get_by_label("Language").select_option("lt")
    expect(at.page.get_by_role("heading", name=TOLD["lt"][0])).to_be_visible()
    expect(at.page.get_by_label("Klausimas", exact=True)).to_have_value("half a question")
    at.page.reload()
    expect(at.page.get_by_role("heading", name=TOLD["lt"][0])).to_be_visible()
    expect(at.page.get_by_role("button", name="Spartieji klavišai")).to_be_visible()

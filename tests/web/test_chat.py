"""The page in a real browser: questions, answers, citations, uploads."""

from __future__ import annotations

import re
from collections.abc import Callable

import openai
import pytest
from pdf_file import pdf
from playwright.sync_api import expect
from served import Visit

Open = Callable[..., Visit]
ROMANS = "What did the Romans ship down the river Medway?"
RECORD = """() => {
    window.seen = [];
    new MutationObserver(() => {
        const turn = document.querySelector("article.turn");
        const prose = turn?.querySelector(".prose")?.textContent ?? "";
        const busy = turn?.getAttribute("aria-busy") === "true";
        if (turn) window.seen.push([busy, turn.querySelector(".progress")?.textContent ?? "", prose]);
    }).observe(document.body, {subtree: true, childList: true, characterData: true, attributes: true});
}"""


def test_opens_citations_at_the_cited_words(quoted: str, visit: Open) -> None:
    at = visit(quoted)
    turn = at.ask(ROMANS)
    turn.get_by_role("button", name=re.compile("^Citation")).first.click()
    source = at.page.get_by_role("complementary", name="Source")
    expect(source.get_by_role("heading")).to_contain_text("A guide to stone")
    expect(source.get_by_label("Text of the source")).to_contain_text("Kentish ragstone")
    quote = turn.locator(".card-quote").first.inner_text()
    lit = " ".join(source.locator("mark").all_inner_texts())
    assert "The Romans shipped it down the river Medway" in lit
    assert " ".join(lit.split()) == " ".join(quote.split())
    expect(source.locator("mark").first).to_be_in_viewport()
    expect(source.locator("mark")).to_have_css("background-color", "rgb(255, 224, 138)")


def test_shows_answers_as_they_are_written(written: str, visit: Open) -> None:
    at = visit(written)
    at.page.evaluate(RECORD)
    turn = at.ask("What is Kentish ragstone?")
    seen = at.page.evaluate("window.seen")
    assert any(busy and "Searching" in progress for busy, progress, _ in seen)
    lengths = sorted({len(prose) for busy, _, prose in seen if busy and prose})
    assert len(lengths) > 5, "not all at once"
    expect(turn.locator("strong")).to_have_text("Kentish ragstone")
    expect(turn.locator(".prose li").first).to_contain_text("The Romans shipped it down the Medway.")
    expect(turn.locator(".sentence.missing")).to_contain_text("in 1492 to build rockets")
    expect(turn).to_contain_text("1 of 3 sentences is not found in the documents.")
    expect(at.page.get_by_role("status")).to_contain_text("Answer: ")


def test_stops_and_asks_again(written: str, visit: Open) -> None:
    at = visit(written)
    box = at.page.get_by_label("Question", exact=True)
    box.fill("What is Kentish ragstone?")
    box.press("Enter")
    expect(at.page.locator(".prose")).to_contain_text("Kentish")
    at.page.keyboard.press("Escape")
    expect(at.page.get_by_text("Stopped. The text above was not fully checked.")).to_be_visible()
    at.page.get_by_role("button", name="Ask again").click()
    expect(at.page.locator(".turn-foot")).to_be_visible()
    expect(at.page.locator("article.turn")).to_have_count(1)


def test_answers_continue_in_other_conversations(written: str, visit: Open) -> None:
    at = visit(written)
    box = at.page.get_by_label("Question", exact=True)
    box.fill("What is Kentish ragstone?")
    box.press("Enter")
    expect(at.page.locator(".prose")).to_contain_text("Kentish")
    at.page.get_by_role("link", name="New conversation").click()
    expect(at.page.locator("article.turn")).to_have_count(0)
    left = at.page.get_by_role("list", name="Conversations").get_by_role("link").first
    expect(left).to_contain_text("What is Kentish ragstone?")
    left.click()
    expect(at.page.locator(".turn-foot")).to_be_visible()
    expect(at.page.locator(".prose")).to_contain_text("to build rockets")


def test_refusals_show_the_closest_passages(quoted: str, visit: Open) -> None:
    at = visit(quoted)
    turn = at.ask("How much is a train ticket to Vilnius?")
    expect(turn.locator(".refusal .prose")).to_contain_text("train ticket to Vilnius")
    expect(turn).to_contain_text(re.compile(r"Likelihood of an answer: .*\d%"))
    card = turn.get_by_role("group", name="Closest passages").get_by_role("button").first
    quote = card.locator(".card-quote").inner_text()
    for again in (False, True):
        if again:
            at.page.reload()
        card.click()
        expect(at.page.locator("aside mark").first).to_be_visible()
        lit = " ".join(at.page.locator("aside mark").all_inner_texts())
        assert " ".join(quote.split()) in " ".join(lit.split())


def test_keeps_votes_and_conversations(quoted: str, visit: Open) -> None:
    at = visit(quoted)
    turn = at.ask(ROMANS)
    with at.page.expect_response("**/feedback") as first:
        turn.get_by_role("button", name="Bad answer").click()
    assert first.value.ok
    turn.get_by_role("radio", name="Something is missing").check()
    turn.get_by_label("In your own words").fill("the year")
    with at.page.expect_response("**/feedback") as second:
        turn.get_by_role("button", name="Send").click()
    assert second.value.request.post_data_json["reason"] == "Something is missing: the year"
    expect(turn).to_contain_text("Thank you for your feedback.")

    at.page.reload()
    turn = at.page.locator("article.turn")
    expect(turn.get_by_role("button", name="Bad answer")).to_have_attribute("aria-pressed", "true")
    turn.get_by_role("button", name=re.compile("^Citation")).first.click()
    expect(at.page.locator("aside mark").first).to_contain_text("The Romans")
    at.page.keyboard.press("Escape")

    at.page.get_by_role("button", name=f"More: {ROMANS}").first.click()
    at.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    with at.page.expect_response("**/conversations/*"):
        at.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(at.page.get_by_role("heading", name="Ask your documents")).to_be_visible()


def test_uploads_asks_and_deletes_a_pdf(quoted: str, visit: Open) -> None:
    at = visit(quoted, at="#/sources")
    content = pdf(["Marble is polished with tin oxide.", "The quarry of Carrara lies in Tuscany."])
    files = [{"name": "marble.pdf", "mimeType": "application/pdf", "buffer": content}]
    at.page.locator("input[type=file]").first.set_input_files(files)
    expect(at.page.get_by_text("Ready for questions")).to_be_visible()
    at.page.get_by_role("link", name="New conversation").click()
    turn = at.ask("What is marble polished with?")
    expect(turn.locator(".prose")).to_contain_text("tin oxide")
    expect(turn.locator(".card-place").first).to_contain_text("page 1")
    turn.get_by_role("button", name="Citation 1").click()
    at.page.locator("aside label", has_text="Text").click()
    expect(at.page.locator("aside")).to_contain_text("Page 2")
    expect(at.page.locator("aside mark").first).to_have_text("Marble is polished with tin oxide.")

    at.page.keyboard.press("Escape")
    at.page.get_by_role("link", name="Sources").click()
    at.page.get_by_label("Find a document by name").fill("marble")
    row = at.page.get_by_role("list", name="Documents").get_by_role("listitem")
    expect(row).to_have_count(1)
    row.get_by_role("button", name=re.compile("^Delete")).click()
    at.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(at.page.get_by_text("No document has this name.")).to_be_visible()


def test_filters_documents(quoted: str, visit: Open) -> None:
    at = visit(quoted, allow="400")
    at.page.get_by_role("button", name="All documents").click()
    at.page.get_by_role("button", name="Add condition", exact=True).click()
    at.page.get_by_label("Field").fill("lang")
    at.page.get_by_label("Value").fill("de")
    turn = at.ask("Was ist BM25?")
    expect(turn).to_contain_text('lang = "de"')
    at.page.get_by_label("Filter expression").fill("lang = (")
    box = at.page.get_by_label("Question", exact=True)
    box.fill("Was ist BM25?")
    box.press("Enter")
    expect(at.page.get_by_role("alert")).to_contain_text("filter")


@pytest.mark.parametrize("question", ["What colour is sandstone?", "What is sandstone made of?"])
def test_planted_markup_does_nothing(quoted: str, visit: Open, question: str) -> None:
    at = visit(quoted)
    turn = at.ask(question)
    turn.locator(".card, .marker").first.click()
    body = at.page.locator("aside")
    expect(body).to_contain_text("<script>document.title='taken'</script>")
    expect(body).to_contain_text("![chart](https://evil.example/chart.png)")
    expect(body).to_contain_text("[Read more](javascript:alert(1))")
    assert at.page.locator("main img, aside img, main script, aside a, main style, iframe").count() == 0
    assert at.page.title() == "Ragstone"


def test_address_opens_a_document_at_the_cited_words(quoted: str, visit: Open) -> None:
    """The address that OpenAI's clients are given for a citation."""
    with openai.OpenAI(base_url=f"{quoted}/v1", api_key="none") as client:
        [part] = client.responses.create(model="ragstone", input=ROMANS).output[0].content
    note = part.annotations[0]
    page = visit(quoted).page
    page.goto(note.url)
    source = page.get_by_role("complementary", name="Source")
    expect(source.get_by_role("heading")).to_contain_text("A guide to stone")
    expect(source.locator("mark").first).to_be_in_viewport()
    assert "The Romans shipped it down the river Medway" in " ".join(source.locator("mark").all_inner_texts())

// @vitest-environment happy-dom
import { cleanup, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it } from "vitest";
import type { Answer } from "../api/types";
import { answered, cited, found, hit, stated } from "./samples";
import { TurnView } from "./TurnView";
import { fresh, type Turn } from "./turns";

afterEach(cleanup);

function show(part: Partial<Turn>) {
  const opened: number[] = [];
  const votes: unknown[] = [];
  const turn: Turn = { ...fresh("1", "Why?"), ...part };
  render(
    <TurnView
      turn={turn}
      opened={null}
      onOpen={(_, at) => opened.push(at)}
      onAgain={() => votes.push("again")}
      onEdit={() => undefined}
      onVote={async (vote, more) => void votes.push([vote, more ?? {}])}
    />,
  );
  return { opened, votes };
}

const whole = (answer = answered("", {})): Partial<Turn> => ({ state: "done", text: answer.answer, answer });

it("shows and opens the citations of each sentence", async () => {
  const answer = answered("Stone is old. [1] Sky is blue. [?]", {
    citations: [cited(1, { section: "Stone > Age", page: "3" })],
    statements: [
      stated(0, 17, { markers: [1] }),
      stated(18, 34, { state: "contradicted", support: 0.1, reason: "the passage says grey, not blue" }),
    ],
  });
  const { opened } = show(whole(answer));
  expect(document.querySelector(".prose")?.textContent).toBe(
    "Stone is old.1 Sky is blue.contradictedthe passage says grey, not blue",
  );
  expect(document.querySelector(".sentence.contradicted")?.textContent).toBe("Sky is blue.");
  expect(screen.getByText(/1 of 2 sentences is contradicted/)).toBeTruthy();
  expect(screen.getByText("Age · page 3")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Citation 1" }));
  await userEvent.click(screen.getByRole("button", { name: /About stone/ }));
  expect(opened).toEqual([0, 0]);
});

it("tells what is contradicted from what is only not found", () => {
  const answer = answered("Stone is old. Sky is blue. [?] Anna Berg built it. [?]", {
    statements: [
      stated(0, 13),
      stated(14, 30, { state: "contradicted", reason: "the passage says grey, not blue" }),
      stated(31, 54, { state: "missing" }),
    ],
  });
  show(whole(answer));
  expect(document.querySelector(".sentence.missing")?.textContent).toBe("Anna Berg built it.");
  expect(screen.getByRole("button", { name: "not found", description: "not found" })).toBeTruthy();
  expect(document.querySelector(".notice.warn")?.textContent?.trim()).toBe(
    "1 of 3 sentences is contradicted by the documents. 1 of 3 sentences is not found in the documents.",
  );
  expect(screen.getByText("1 supported, 0 not checked, 1 not found, 1 contradicted")).toBeTruthy();
});

it.each([
  [[cited(1)], "1 citation"],
  [[], "Not taken from the documents"],
])("says of a reply that it is not from the documents only if it cites none", (citations, told) => {
  show(whole(answered("Stone is old.", { outcome: "reply", citations })));
  expect(document.querySelector("summary")?.textContent).toBe(told);
});

it("shows a refusal with the closest passages", async () => {
  const answer = answered(
    'I couldn\'t find an answer to "Why?" in these documents.\nClosest passages:\n- About stone: Stone is old.',
    {
      outcome: "refusal",
      abstained: true,
      answerability: 0.004,
    },
  );
  const { opened } = show({ ...whole(answer), evidence: found(hit("Well. Stone is old.")) });
  expect(screen.getByText('I couldn\'t find an answer to "Why?" in these documents.')).toBeTruthy();
  expect(screen.getByText("Likelihood of an answer: under 1%")).toBeTruthy();
  await userEvent.click(within(screen.getByRole("group", { name: "Closest passages" })).getByText("Stone is old."));
  expect(opened).toEqual([0]);
});

it.each([
  ["extractive", 0.8, 1],
  ["openai:gpt-5.4-mini", null, 0],
])("tells the likelihood of an answer only where it was estimated (%s)", (model, answerability, rows) => {
  show(whole(answered("Stone is old.", { model, answerability })));
  expect(screen.queryAllByText("Likelihood of an answer")).toHaveLength(rows);
});

it("marks the likely sentence of a passage that may answer", () => {
  const text = "This may answer it:\n\nAbout stone:\nWell. Stone is old. [1] It lasts.";
  const citations = [cited(1, { quote: "Well. Stone is old. It lasts." })];
  show(
    whole(
      answered(text, {
        outcome: "closest",
        abstained: true,
        citations,
        statements: [stated(40, 57, { markers: [1] })],
      }),
    ),
  );
  expect(document.querySelector(".prose.likely .sentence")?.textContent).toBe("Stone is old.");
  expect(screen.getByRole("button", { name: "Citation 1" })).toBeTruthy();
  expect(screen.queryByText("Closest passages")).toBeNull();
});

it("tells the reason of a flagged sentence until Escape", async () => {
  const text = "Sky is blue. [?]";
  const statement = stated(0, 16, { state: "missing", reason: "no source says blue" });
  show(whole(answered(text, { statements: [statement] })));
  const mark = screen.getByRole("button", { name: "not found", description: "no source says blue" });
  const escapes: string[] = [];
  const note = (event: KeyboardEvent) => event.defaultPrevented || escapes.push(event.key);
  addEventListener("keydown", note);
  mark.focus();
  await userEvent.keyboard("{Escape}");
  expect(document.querySelector<HTMLElement>(".reason")?.hidden).toBe(true);
  await userEvent.keyboard("{Escape}");
  expect(escapes).toEqual(["Escape"]);
  await userEvent.hover(mark);
  expect(document.querySelector<HTMLElement>(".reason")?.hidden).toBe(false);
  removeEventListener("keydown", note);
});

it("draws tables, nested lists, quotations and code", async () => {
  const text =
    "| Plan | Cost |\n|---|---|\n| A | **1** [1] |\n\n1. Stop:\n   - ~~now~~\n\n> Wait.\n\n```\nx = [1]\n```\n[1]";
  const at = (part: string) => text.indexOf(part);
  const statements = [
    stated(at("| A"), at("\n\n1."), { markers: [1] }),
    stated(at("```"), text.length, { markers: [1] }),
  ];
  const { opened } = show(whole(answered(text, { statements, citations: [cited(1)] })));
  const table = screen.getByRole("table");
  expect(
    within(table)
      .getAllByRole("columnheader")
      .map((cell) => cell.textContent),
  ).toEqual(["Plan", "Cost"]);
  expect(
    within(table)
      .getAllByRole("cell")
      .map((cell) => cell.innerHTML.replace(/<button.*/, "[1]")),
  ).toEqual(['<span class="sentence">A</span>', '<span class="sentence"><strong>1</strong></span>[1]']);
  await userEvent.click(within(table).getByRole("button", { name: "Citation 1" }));
  expect(opened).toEqual([0]);
  expect(document.querySelector("ol > li > ul > li s")?.textContent).toBe("now");
  expect(document.querySelector(".prose blockquote")?.textContent).toBe("Wait.");
  expect(document.querySelector("pre")?.textContent).toBe("x = [1]");
  expect(document.querySelector("pre + .marker")?.textContent).toBe("1");
});

it("aligns the columns of figures to the right", () => {
  const text = "| Market | :left | Sold |\n|---|:--:|---:|\n| UK | a | 1,097 |";
  show(whole(answered(text)));
  const right = [...document.querySelectorAll("th, td")].map((cell) => [cell.textContent, cell.className === "right"]);
  expect(right.filter(([, isRight]) => isRight)).toEqual([
    ["Sold", true],
    ["1,097", true],
  ]);
});

it("shows a model's own words above the closest passages", () => {
  const said = "The manual gives no year. [1] It names **no** builder.";
  const text = `${said}\n\nClosest passages:\n- About stone: Stone is old.`;
  const statements = [stated(0, 29, { markers: [1] }), stated(30, said.length, { state: "unchecked" })];
  const refusal: Partial<Answer> = { outcome: "refusal", abstained: true, statements, citations: [cited(1)] };
  show({ ...whole(answered(text, refusal)), evidence: found(hit("Well. Stone is old.", { chunk_id: "c9" })) });
  expect(document.querySelector(".prose")?.textContent).toBe("The manual gives no year.1 It names no builder.");
  expect(within(screen.getByRole("group", { name: "Closest passages" })).getByText("Stone is old.")).toBeTruthy();
  expect(within(screen.getByRole("group", { name: "Cited" })).getAllByRole("button")).toHaveLength(1);
  expect(screen.getByText("1 supported, 1 not checked, 0 not found, 0 contradicted")).toBeTruthy();
});

it("shows all words of a refusal without a model", () => {
  const text = "No document mentions slate.\nNothing answers “Why?”.\nClosest passages:\n- About stone: Stone is old.";
  const answer = answered(text, { outcome: "refusal", abstained: true });
  show({ ...whole(answer), evidence: found(hit("Stone is old.")) });
  expect(document.querySelector(".prose")?.textContent).toBe("No document mentions slate.\nNothing answers “Why?”.");
});

it("notes above a quoted answer that the model failed", () => {
  const lead = "The language model gave no answer, so the documents are quoted.";
  const text = `${lead}\n\nStone is old. [1]`;
  const answer = answered(text, {
    statements: [stated(lead.length + 2, text.length, { markers: [1] })],
    citations: [cited(1)],
    failed: true,
  });
  show(whole(answer));
  expect(document.querySelector(".notice.warn")?.textContent?.trim()).toBe(lead);
  expect(document.querySelector(".prose")?.textContent).toBe("Stone is old.1");
});

it("shows planted markup as text", () => {
  const text =
    '<img src=x onerror="alert(1)"> ![p](https://a.example/p.png) [l](javascript:alert(1)) <script>1</script>';
  show({ ...whole(answered(text)), evidence: { ...found(), notices: ["<b>note</b>"], missing: ["<i>gone</i>"] } });
  expect(document.querySelector(".prose")?.textContent).toBe(text);
  expect(document.querySelector("img, script, b, i, a")).toBeNull();
});

it("shows failures and notes, and offers to ask again", async () => {
  const { votes } = show({ state: "failed", error: "It took too long.", text: "Half" });
  expect(screen.getByRole("alert").textContent).toContain("It took too long.");
  expect(screen.getByText("Half")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Ask again" }));
  expect(votes).toEqual(["again"]);
});

it("sends a vote at once, then the reason", async () => {
  const { votes } = show(whole(answered("Yes.")));
  await userEvent.click(screen.getByRole("button", { name: "Bad answer" }));
  expect(screen.queryByText("Thank you for your feedback.")).toBeNull();
  await userEvent.click(screen.getByRole("radio", { name: "Something is missing" }));
  await userEvent.type(screen.getByLabelText("In your own words"), "the year");
  await userEvent.click(screen.getByRole("button", { name: "Send" }));
  expect(votes).toEqual([
    ["down", {}],
    ["down", { reason: "Something is missing: the year" }],
  ]);
  expect(screen.getByText("Thank you for your feedback.")).toBeTruthy();
});

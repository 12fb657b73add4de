// @vitest-environment happy-dom
import { cleanup, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it } from "vitest";
import { answered, cited, found, hit } from "./samples";
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
      { start: 0, end: 17, support: 1, supported: true, markers: [1] },
      { start: 18, end: 34, support: 0.1, supported: false, markers: [] },
    ],
  });
  const { opened } = show(whole(answer));
  expect(document.querySelector(".prose")?.textContent).toBe("Stone is old.1 Sky is blue.not supported");
  expect(document.querySelector(".unproved")?.textContent).toBe("Sky is blue.");
  expect(screen.getByText(/1 of 2 sentences is not supported/)).toBeTruthy();
  expect(screen.getByText("Age · page 3")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Citation 1" }));
  await userEvent.click(screen.getByRole("button", { name: /About stone/ }));
  expect(opened).toEqual([0, 0]);
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
  await userEvent.click(screen.getByRole("radio", { name: "Something is missing" }));
  await userEvent.type(screen.getByLabelText("In your own words"), "the year");
  await userEvent.click(screen.getByRole("button", { name: "Send" }));
  expect(votes).toEqual([
    ["down", {}],
    ["down", { reason: "Something is missing: the year" }],
  ]);
  expect(screen.getByText("Thank you for your feedback.")).toBeTruthy();
});

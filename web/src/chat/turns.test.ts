import { expect, it } from "vitest";
import { answered, cited, found } from "./samples";
import { type Action, type Chat, reduce } from "./turns";

const after = (...actions: Action[]): Chat =>
  actions.reduce(reduce, { session: "s", turns: [], loading: false } as Chat);
const asked: Action = { type: "asked", id: "1", question: "Why?", where: "" };
const text = (part: string): Action => ({ type: "event", id: "1", event: { type: "text", text: part } });

it("follows an answer from the search to its end, which takes the place of what was written", () => {
  const sentence = { text: "Half. ", supported: true, support: 1, citations: [cited(1)] };
  const chat = after(
    asked,
    { type: "event", id: "1", event: { type: "evidence", evidence: found() } },
    text("Ha"),
    text("lf. "),
    {
      type: "event",
      id: "1",
      event: { type: "sentence", sentence },
    },
  );
  expect(chat.turns[0]).toMatchObject({ state: "writing", text: "Half. ", sentences: [sentence] });
  const whole = reduce(chat, { type: "event", id: "1", event: { type: "answer", answer: answered("Whole. [1]") } });
  expect(whole.turns[0]).toMatchObject({ state: "done", text: "Whole. [1]" });
});

it("keeps what was written when the answer is stopped or fails, and takes in nothing more", () => {
  const stopped = after(asked, text("Half"), { type: "stopped", id: "1" }, text(" more"));
  expect(stopped.turns[0]).toMatchObject({ state: "stopped", text: "Half" });
  const failed = after(asked, text("Half"), { type: "failed", id: "1", error: "no" });
  expect(failed.turns[0]).toMatchObject({ state: "failed", text: "Half", error: "no" });
});

it("asks again in the place of a failure", () => {
  const again = after(asked, { type: "failed", id: "1", error: "no" }, asked);
  expect(again.turns).toHaveLength(1);
  expect(again.turns[0]).toMatchObject({ state: "searching", error: "" });
});

it("takes in what was kept only for the conversation that is open", () => {
  const opened: Action = { type: "opened", session: "other", loading: true };
  expect(after(asked, opened, { type: "loaded", session: "s", turns: [] })).toMatchObject({ loading: true });
  expect(after(asked, opened, { type: "loaded", session: "other", turns: [] })).toMatchObject({ loading: false });
});

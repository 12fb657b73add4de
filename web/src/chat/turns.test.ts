import { expect, it } from "vitest";
import type { AnswerEvent } from "../api/query";
import type { SentenceEvent } from "../api/types";
import { answered, cited, found } from "./samples";
import { type Action, type Chat, reduce } from "./turns";

const after = (...actions: Action[]): Chat =>
  actions.reduce(reduce, { session: "s", turns: [], loading: false } as Chat);
const asked: Action = { type: "asked", session: "s", id: "1", question: "Why?", where: "" };
const event = (event: AnswerEvent): Action => ({ type: "event", session: "s", id: "1", event });
const text = (part: string): Action => event({ type: "text", text: part });

it("follows an answer from search to final text", () => {
  const sentence: SentenceEvent = {
    text: "Half. ",
    state: "supported",
    support: 1,
    reason: "",
    citations: [cited(1)],
  };
  const chat = after(
    asked,
    event({ type: "evidence", evidence: found() }),
    text("Ha"),
    text("lf. "),
    event({ type: "sentence", sentence }),
  );
  expect(chat.turns[0]).toMatchObject({ state: "writing", text: "Half. ", sentences: [sentence] });
  const whole = reduce(chat, event({ type: "answer", answer: answered("Whole. [1]") }));
  expect(whole.turns[0]).toMatchObject({ state: "done", text: "Whole. [1]" });
});

it("skips events that it does not know", () => {
  const news = event({ type: "news" } as unknown as AnswerEvent);
  expect(after(asked, news)).toEqual(after(asked));
});

it("keeps partial text after a stop or failure", () => {
  const stopped = after(asked, text("Half"), { type: "stopped", session: "s", id: "1" }, text(" more"));
  expect(stopped.turns[0]).toMatchObject({ state: "stopped", text: "Half" });
  const failed = after(asked, text("Half"), { type: "failed", session: "s", id: "1", error: "no" });
  expect(failed.turns[0]).toMatchObject({ state: "failed", text: "Half", error: "no" });
});

it("replaces a failure when asked again", () => {
  const again = after(asked, { type: "failed", session: "s", id: "1", error: "no" }, asked);
  expect(again.turns).toHaveLength(1);
  expect(again.turns[0]).toMatchObject({ state: "searching", error: "" });
});

import { expect, it } from "vitest";
import { type Chats, type ChatsAction, isAnswering, reduceAll } from "./chats";
import { answered } from "./samples";
import { fresh } from "./turns";

const after = (...actions: ChatsAction[]): Chats =>
  actions.reduce(reduceAll, { shown: { session: "s", turns: [], loading: false }, left: [] } as Chats);
const asked: ChatsAction = { type: "asked", session: "s", id: "1", question: "Why?", where: "" };
const open = (session: string): ChatsAction => ({ type: "opened", session, loading: true });
const text: ChatsAction = { type: "event", session: "s", id: "1", event: { type: "text", text: "Half" } };
const end: ChatsAction = {
  type: "event",
  session: "s",
  id: "1",
  event: { type: "answer", answer: answered("Whole.") },
};

it("continues an answer while another conversation is open", () => {
  const elsewhere = after(asked, open("other"), text);
  expect(elsewhere.shown).toMatchObject({ session: "other", turns: [], loading: true });
  expect(elsewhere.left.map(isAnswering)).toEqual([true]);
  expect(after(asked, open("other"), text, open("s")).shown.turns[0]).toMatchObject({ state: "writing", text: "Half" });
  const back = after(asked, open("other"), text, end, open("s"));
  expect(back).toMatchObject({ shown: { session: "s", loading: false, turns: [{ text: "Whole." }] }, left: [] });
});

it("drops idle conversations, which the server keeps", () => {
  expect(after(asked, end, open("other")).left).toEqual([]);
});

it("restores stored turns only into their conversation", () => {
  const kept: ChatsAction = { type: "loaded", session: "s", turns: [fresh("1", "Why?")] };
  expect(after(open("other"), kept).shown).toMatchObject({ turns: [], loading: true });
  expect(after(open("other"), { ...kept, session: "other" }).shown).toMatchObject({ loading: false });
});

// @vitest-environment happy-dom
import { afterEach, expect, it } from "vitest";
import { fresh } from "../chat/turns";
import { Keeper } from "./kept";

const SERVER = new URL("https://docs.example/");
const chat = (turns: number) => ({
  session: "s",
  turns: Array.from({ length: turns }, (_, n) => ({ ...fresh(String(n), "Why?"), state: "done" as const })),
  loading: false,
});
afterEach(() => sessionStorage.clear());

it("keeps the last turns of a conversation for the next page", () => {
  new Keeper(SERVER).write(chat(50), "visitor-1");
  const kept = new Keeper(SERVER).read();
  expect([kept?.session, kept?.visitor, kept?.turns.length, kept?.turns.at(-1)?.id]).toEqual([
    "s",
    "visitor-1",
    20,
    "49",
  ]);
  expect(new Keeper(new URL("https://other.example/")).read()).toBeNull();
});

it("ends an answer that was under way", () => {
  new Keeper(SERVER).write({ session: "s", turns: [fresh("1", "Why?")], loading: false }, "");
  expect(new Keeper(SERVER).read()?.turns[0]?.state).toBe("stopped");
});

it.each(["", "{", "7", '{"form":1}', '{"form":2,"turns":[{}]}', '{"form":1,"turns":[]}'])("forgets %s", (text) => {
  sessionStorage.setItem(`ragstone-chat ${SERVER.href}`, text);
  expect(new Keeper(SERVER).read()).toBeNull();
});

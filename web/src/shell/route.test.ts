import { expect, it } from "vitest";
import { hashOf, parsed } from "./route";
import { ago } from "./time";

it("restores every view from its address", () => {
  for (const route of [
    { view: "sources" },
    { view: "sources", cited: { documentId: "docs/rooms & halls.md?#ė", start: 0, end: 29 } },
    { view: "shared", secret: "a-B_9" },
    { view: "chat", session: null },
    { view: "chat", session: "what / ė? #1" },
  ] as const) {
    expect(parsed(hashOf(route))).toEqual(route);
  }
  expect(parsed("#/c/%E0%A4%A")).toEqual({ view: "chat", session: null });
});

it("formats relative times", () => {
  expect([ago(100, 130), ago(0, 3600), ago(0, 86_400), ago(200, 100)]).toEqual([
    "just now",
    "1 hr. ago",
    "yesterday",
    "just now",
  ]);
});

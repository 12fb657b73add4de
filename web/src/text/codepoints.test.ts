import { expect, it } from "vitest";
import { CodePoints } from "./codepoints";

const TEXTS = ["", "plain", "🪨", "a🪨b🧱🧱c", "ąė🇱🇹 ends 👩‍👩‍👧", "lone \uD83E then 🪨", "\uDC00🪨\uD800"];

it("counts code points as Python does", () => {
  for (const text of TEXTS) {
    const points = new CodePoints(text);
    const characters = Array.from(text);
    expect(points.length).toBe(characters.length);
    for (let start = 0; start <= characters.length; start++) {
      for (let end = start; end <= characters.length; end++) {
        expect(points.slice(start, end)).toBe(characters.slice(start, end).join(""));
      }
    }
  }
});

it("clamps offsets to the text", () => {
  const points = new CodePoints("a🪨");
  expect([points.unit(-1), points.unit(1), points.unit(2), points.unit(99)]).toEqual([0, 1, 3, 3]);
});

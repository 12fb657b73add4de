import { expect, it } from "vitest";
import { CodePoints } from "./codepoints";
import { flowed, lit, partsOf } from "./parts";

const TEXT = "🪨 Front\n\n## Stone\n\nIt is **old**.\n\nAnd grey.\n\ncode\n\nPage two.";
const place = (part: string) => Array.from(TEXT.slice(0, TEXT.indexOf(part))).length;
const mark = (kind: "heading" | "page" | "code", part: string, end: string, label = "") => ({
  kind,
  start: place(part),
  end: place(end) + Array.from(end).length,
  level: 2,
  label,
  header: 0,
});
const MARKS = [
  mark("page", "🪨", "grey.", "1"),
  mark("heading", "## Stone", "Stone"),
  mark("code", "code", "code"),
  mark("page", "Page two", "two.", "2"),
];

it("splits a document at its marks without losing words", () => {
  const points = new CodePoints(TEXT);
  const shown = partsOf(points, MARKS).map((part) => [part.kind, part.label || TEXT.slice(part.start, part.end)]);
  expect(shown).toEqual([
    ["page", "1"],
    ["paragraph", "🪨 Front"],
    ["heading", "Stone"],
    ["paragraph", "It is **old**."],
    ["paragraph", "And grey."],
    ["code", "code"],
    ["page", "2"],
    ["paragraph", "Page two."],
  ]);
});

it("highlights exactly a span, across paragraphs too", () => {
  const points = new CodePoints(TEXT);
  const range = { start: points.unit(place("**old")), end: points.unit(place(" grey")) };
  const words = partsOf(points, MARKS).flatMap((part) => lit(TEXT, part, [range]).filter((one) => one.range === 0));
  expect(words.map((one) => one.text)).toEqual(["**old**.", "And"]);
});

it("joins wrapped lines without moving offsets", () => {
  const long = "x".repeat(60);
  const text = `${long}\nand on\n- item\nshort\nline`;
  expect(flowed(text)).toBe(`${long} and on\n- item\nshort\nline`);
  expect(flowed(`${long}\n- item`)).toBe(`${long}\n- item`);
});

it("ignores nested and trailing marks", () => {
  const points = new CodePoints("# A\ntext");
  const nested = [
    { kind: "heading" as const, start: 0, end: 3, level: 1, label: "A", header: 0 },
    { kind: "code" as const, start: 1, end: 2, level: 0, label: "", header: 0 },
  ];
  expect(partsOf(points, nested).map((part) => part.kind)).toEqual(["heading", "paragraph"]);
  expect(partsOf(new CodePoints(""), [])).toEqual([]);
});

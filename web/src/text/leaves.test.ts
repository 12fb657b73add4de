import { expect, it } from "vitest";
import { CodePoints } from "./codepoints";
import { leafAt, leafKind, leavesOf } from "./leaves";

const mark = (kind: "page" | "heading" | "table", start: number, end: number, label = "") => ({
  kind,
  start,
  end,
  label,
  level: 1,
  header: 0,
});

it("cuts a presentation at its slides", () => {
  const text = "🪨 Stone\n\nIt is old.\n\nSlate\n\nIt splits.";
  const marks = [mark("page", 0, 19, "1"), mark("heading", 0, 7, "🪨 Stone"), mark("page", 21, 37, "3")];
  const leaves = leavesOf("slide", new CodePoints(text), marks);
  expect(leaves.map((leaf) => [leaf.label, text.slice(leaf.start, leaf.end).trim()])).toEqual([
    ["1", "🪨 Stone\n\nIt is old."],
    ["3", "Slate\n\nIt splits."],
  ]);
  expect(leafAt(leaves, { start: text.indexOf("splits"), end: text.length })).toBe(1);
});

it("cuts a workbook at its sheets", () => {
  const text = "Prices\n\na | 1\n\nStock\n\nb | 2";
  const marks = [mark("heading", 0, 6, "Prices"), mark("table", 8, 13), mark("heading", 15, 20, "Stock")];
  const leaves = leavesOf("sheet", new CodePoints(text), marks);
  expect(leaves.map((leaf) => leaf.label)).toEqual(["Prices", "Stock"]);
  expect(leafAt(leaves, { start: 0, end: 0 })).toBe(0);
});

it("knows presentations and workbooks only", () => {
  const marks = [mark("page", 0, 5, "1"), mark("heading", 0, 5)];
  const known = ["pptx", "ods", "pdf", 7, undefined].map((kind) => leafKind(kind, marks));
  expect(known).toEqual(["slide", "sheet", null, null, null]);
  expect(leafKind("odp", [])).toBeNull();
});

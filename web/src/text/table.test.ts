import { expect, it } from "vitest";
import { rowsOf } from "./table";

const shown = (text: string, header: number) =>
  rowsOf(text, { start: 0, end: text.length }, header).rows.map((row) => [
    row.kind,
    ...row.cells.map((cell) => text.slice(cell.start, cell.end)),
  ]);

it("reads rows with bars, headings and sections", () => {
  expect(shown("Item | 2023 | 2022\nRevenue | | \nProducts | 12 | 9\n\nServices | | 4", 1)).toEqual([
    ["header", "Item", "2023", "2022"],
    ["section", "Revenue"],
    ["body", "Products", "12", "9"],
    ["body", "Services", "", "4"],
  ]);
});

it("reads Markdown with escaped bars", () => {
  expect(shown("| a | b |\n|---|:-:|\n| x \\| y | |\n| - | 2 |", 0)).toEqual([
    ["header", "a", "b"],
    ["section", "x \\| y"],
    ["body", "-", "2"],
  ]);
});

it("keeps every word of any text exactly once", () => {
  for (const text of ["", "|", "a", "| |", "a |b| c", "||\n||", "| a\nb |", " x \n\n | y", "--- | ---\n1 | 2"]) {
    const words = text
      .split("\n")
      .filter((line) => !/^\s*\|?[\s:|-]*-[\s:|-]*$/.test(line))
      .join(" ")
      .replaceAll("|", " ");
    expect(
      shown(text, 0)
        .flatMap(([, ...cells]) => cells)
        .join(" ")
        .split(/\s+/)
        .filter(Boolean),
    ).toEqual(words.split(/\s+/).filter(Boolean));
  }
});

it("takes long lines of dashes in a time that grows with their length", () => {
  const begun = performance.now();
  shown(`| a | b |\n${" ".repeat(5000)}${"-".repeat(5000)}x | 1`, 1);
  expect(performance.now() - begun).toBeLessThan(500);
});

it("shows rows around cited ones, with the headings", () => {
  const text = ["Item | Price", ...Array.from({ length: 5000 }, (_, n) => `Stone ${n} | ${n}`)].join("\n");
  const start = text.indexOf("Stone 4000 ");
  const near = { start, end: start + 5 };
  const found = rowsOf(text, { start: 0, end: text.length }, 1, { near, before: 2, after: 1 });
  expect(found.rows.map((row) => text.slice(row.cells[0]?.start, row.cells[0]?.end))).toEqual([
    "Item",
    "Stone 3998",
    "Stone 3999",
    "Stone 4000",
    "Stone 4001",
  ]);
  expect([found.earlier, found.later]).toEqual([3998, 998]);
});

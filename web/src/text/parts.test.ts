import { expect, it } from "vitest";
import { CodePoints } from "./codepoints";
import { bulleted, plainOf } from "./markdown";
import { flowed, lit, type Part, partsOf, type Range } from "./parts";

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

it("leaves out the fences around code", () => {
  const text = "Run:\n```bash\nls -a\n```\nThen\n\n  ~~~\nx\n  ~~~\n";
  const code = (words: string) => ({
    ...mark("code", "", ""),
    start: text.indexOf(words),
    end: text.indexOf(words) + words.length,
  });
  const parts = partsOf(new CodePoints(text), [code("ls -a"), code("x")]);
  expect(parts.map((part) => text.slice(part.start, part.end))).toEqual(["Run:", "ls -a", "Then", "x"]);
});

const whole = (text: string, kind: Part["kind"] = "paragraph"): Part => ({
  kind,
  start: 0,
  end: text.length,
  level: 0,
  label: "",
  header: 0,
});

/** What is seen of a text: cited words in brackets, code in backquotes, bold and italic words in B and I. */
function seen(text: string, range: Range, kind?: Part["kind"], isMarkdown = true): string {
  const signs = { "": "", bold: "B", italic: "I", struck: "S", code: "`", formula: "" };
  return lit(text, whole(text, kind), [range], isMarkdown)
    .map((piece) => {
      if (piece.look === "mark") return "";
      const words = `${signs[piece.look]}${piece.text}${signs[piece.look]}`;
      return piece.range === 0 ? `[${words}]` : words;
    })
    .join("");
}

it("shows Markdown as it looks, and cites the same words", () => {
  const text = "- `--dry-run` shows **what would** change";
  const to = (words: string) => text.indexOf(words);
  expect(seen(text, { start: 0, end: text.length })).toBe("[• ][`--dry-run`][ shows ][Bwhat wouldB][ change]");
  // A range may begin or end before, in or behind a mark.
  for (const start of [to("**what"), to("*what"), to("what")]) {
    for (const end of [to("** change"), to("* change"), to(" change")]) {
      expect(seen(text, { start, end })).toBe("• `--dry-run` shows [Bwhat wouldB] change");
    }
  }
  expect(seen(text, { start: to("run"), end: to("would") })).toBe("• `--dry-`[`run`][ shows ][Bwhat B]BwouldB change");
  expect(seen(text, { start: to("`--"), end: to("--") })).not.toContain("[");
});

it("shows what is no Markdown as it is written", () => {
  const text = "- `a` **b**\n\nc";
  const none = { start: 0, end: 0 };
  expect(seen(text, none, "code")).toBe(text);
  expect(seen(text, none, "paragraph", false)).toBe(text);
  expect(seen("The `a` of *b*", none, "heading")).toBe("The `a` of IbI");
  const long = "`a` ".repeat(50_000);
  expect(lit(long, whole(long), [], true)).toHaveLength(1);
});

it("shows or hides every character once", () => {
  let seed = 1;
  const below = (most: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % most;
  };
  const alphabet = ["a", "b ", " ", "\n", "\n- ", "\n  * ", "*", "**", "`a", "🪨", "word ".repeat(12)];
  for (let round = 0; round < 2000; round++) {
    const text = Array.from({ length: below(14) }, () => alphabet[below(alphabet.length)])
      .join("")
      .trim();
    const [one, other] = [below(text.length + 1), below(text.length + 1)];
    const range = { start: Math.min(one, other), end: Math.max(one, other) };
    const pieces = lit(text, whole(text), [range], true);
    const told = JSON.stringify(text);
    expect(pieces.map((piece) => piece.text).join(""), told).toBe(flowed(bulleted(text)));
    expect(
      pieces.every((piece) => piece.look !== "mark" || /^[*`]+$/.test(piece.text)),
      told,
    ).toBe(true);
    const bare = (words: string) => words.replace(/[\s•*-]/g, ""); // a document keeps the signs of lists and rules
    const shown = pieces.filter((piece) => piece.look !== "mark").map((piece) => piece.text);
    expect(bare(shown.join("")), told).toBe(bare(plainOf(text)));
    let at = 0;
    for (const piece of pieces) {
      const end = at + piece.text.length;
      expect(piece.range === 0, told).toBe(range.start <= at && end <= range.end);
      expect(piece.range === 0 || end <= range.start || at >= range.end, told).toBe(true);
      at = end;
    }
  }
});

it("takes linear time for Markdown", () => {
  const began = performance.now();
  for (const some of ["`a` ", "**a ", "- *a", "\n- `a`", "*a\n", "**", "[a](", "\n```"]) {
    const text = some.repeat(20_000);
    lit(text, whole(text), [{ start: 3, end: text.length - 3 }], true);
  }
  partsOf(new CodePoints(`${"~".repeat(50_000)}\`\n    x`), [{ ...mark("code", "", ""), start: 50_002, end: 50_007 }]);
  expect(performance.now() - began).toBeLessThan(2000);
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

import { expect, it } from "vitest";
import { blocksOf, bulleted, plainOf, stretchesOf } from "./markdown";

const shown = (text: string) =>
  blocksOf(text).map((block) => [
    block.kind,
    ...block.items.map((item) => item.runs.map((run) => `${run.look}(${text.slice(run.start, run.end)})`).join("")),
  ]);

it("reads paragraphs, headings, lists and code", () => {
  expect(shown("One\nline\n\n## Head\ntext\n- a\n- b\n  goes on\n\n3. c\n4) d\n```py\nx = 1\n\ny\n```\nend")).toEqual([
    ["paragraph", "(One\nline)"],
    ["heading", "(Head)"],
    ["paragraph", "(text)"],
    ["list", "(a)", "(b\n  goes on)"],
    ["numbers", "(c)", "(d)"],
    ["code", "(x = 1\n\ny)"],
    ["paragraph", "(end)"],
  ]);
  expect(blocksOf("7. seven")[0]?.first).toBe(7);
});

it("reads inline markup and leaves lookalikes", () => {
  expect(shown("a **b** `c*d*` *e* 2*3*4 ** x")).toEqual([
    ["paragraph", "(a )bold(b)( )code(c*d*)( )italic(e)( 2*3*4 ** x)"],
  ]);
  expect(shown("**a `b` *c* d** e")).toEqual([["paragraph", "bold(a )code(b)bold( )italic(c)bold( d)( e)"]]);
});

it("tells inline marks from what they mark", () => {
  const text = "So:\n- **`--a`** x\n- b *c*\n```\n*d*\n```";
  expect(stretchesOf(text).map((one) => `${one.look}(${text.slice(one.start, one.end)})`)).toEqual([
    "(So:)",
    "(\n- )",
    "mark(**`)",
    "code(--a)",
    "mark(`**)",
    "( x)",
    "(\n- )",
    "(b )",
    "mark(*)",
    "italic(c)",
    "mark(*)",
    "(\n```\n)",
    "(*d*)",
    "(\n```)",
  ]);
});

it("turns the signs of lists into bullets", () => {
  expect(bulleted("- a\n  * b - c\n  2. d\n-e\n")).toBe("• a\n\u2002\u2002• b - c\n\u2002\u20022. d\n-e\n");
});

it("shows links, pictures and HTML as text", () => {
  const text = "![x](http://a.example/x.png) [y](javascript:alert(1)) <img src=x onerror=alert(1)>";
  expect(shown(text)).toEqual([["paragraph", `(${text})`]]);
});

it("takes the marks away", () => {
  expect(plainOf("## A\n- **b** `c_d`\n1. 2*3*4")).toBe("A\nb c_d\n2*3*4");
  expect(plainOf("")).toBe("");
});

it("shows unfinished code", () => expect(shown("```\nx")).toEqual([["code", "(x)"]]));

it("takes linear time", () => {
  const began = performance.now();
  blocksOf("**a ".repeat(5000));
  blocksOf("```\n".repeat(2001));
  blocksOf("*".repeat(20_000));
  blocksOf("```\n".repeat(50_001));
  bulleted(`${"- ".repeat(20_000)}\n${" ".repeat(20_000)}`);
  expect(performance.now() - began).toBeLessThan(1500);
});

import { expect, it } from "vitest";
import { type Block, blocksOf, bulleted, plainOf, stretchesOf, type Words } from "./markdown";

const say = (text: string, { runs }: Words) =>
  runs
    .filter((run) => run.look !== "gap")
    .map((run) => `${run.look}(${text.slice(run.start, run.end)})`)
    .join("");
const shown = (text: string, blocks: readonly Block[] = blocksOf(text)): unknown[] =>
  blocks.map((block) => {
    if (block.kind === "rule") return ["rule"];
    if (block.kind === "quote") return ["quote", ...shown(text, block.blocks)];
    if (block.kind === "list") return [block.first ?? "list", ...block.items.map((item) => shown(text, item))];
    if (block.kind === "table")
      return ["table", ...[block.head, ...block.rows].map((row) => row.map((one) => say(text, one)))];
    return [block.kind, say(text, block.words)];
  });

it("reads paragraphs, headings, lists and code", () => {
  expect(shown("One\nline\n\n## Head\ntext\n- a\n- b\n  goes on\n\n3. c\n4) d\n```py\nx = 1\n\ny\n```\nend")).toEqual([
    ["paragraph", "(One\nline)"],
    ["heading", "(Head)"],
    ["paragraph", "(text)"],
    ["list", [["paragraph", "(a)"]], [["paragraph", "(b\n)(goes on)"]]],
    [3, [["paragraph", "(c)"]], [["paragraph", "(d)"]]],
    ["code", "(x = 1\n\ny)"],
    ["paragraph", "(end)"],
  ]);
});

it("nests lists and keeps their numbers", () => {
  const text =
    "7. Stop it:\n   - the **pump**\n   - the fan\n     1. first\n\n8. Then:\n   ```sh\n   run\n     it\n   ```\nEnd";
  expect(shown(text)).toEqual([
    [
      7,
      [
        ["paragraph", "(Stop it:)"],
        [
          "list",
          [["paragraph", "(the )bold(pump)"]],
          [
            ["paragraph", "(the fan)"],
            [1, [["paragraph", "(first)"]]],
          ],
        ],
      ],
      [
        ["paragraph", "(Then:)"],
        ["code", "(run\n)(  it)"],
      ],
    ],
    ["paragraph", "(End)"],
  ]);
});

it("reads tables, with or without outer bars", () => {
  const text = "So:\n| Plan | **Cost** |\n|:--|--:|\n| A | `1` [2] |\n| B \\| C | |\nend\n\na | b\n-|-\n1 | 2";
  expect(shown(text)).toEqual([
    ["paragraph", "(So:)"],
    ["table", ["(Plan)", "bold(Cost)"], ["(A)", "code(1)( [2])"], ["(B )(| C)", ""]],
    ["paragraph", "(end)"],
    ["table", ["(a)", "(b)"], ["(1)", "(2)"]],
  ]);
  expect(shown("a | b\nno table")).toEqual([["paragraph", "(a | b\nno table)"]]);
});

it("reads quotations and rules", () => {
  expect(shown("> One **bold\n> word** and\n>\n> - item\n> > deep\n\n---\n* * *\nx")).toEqual([
    [
      "quote",
      ["paragraph", "(One )bold(bold\n)bold(word)( and)"],
      ["list", [["paragraph", "(item)"]]],
      ["quote", ["paragraph", "(deep)"]],
    ],
    ["rule"],
    ["rule"],
    ["paragraph", "(x)"],
  ]);
});

it("reads inline markup and leaves lookalikes", () => {
  expect(shown("a **b** `c*d*` *e* 2*3*4 ** x")).toEqual([
    ["paragraph", "(a )bold(b)( )code(c*d*)( )italic(e)( 2*3*4 ** x)"],
  ]);
  expect(shown("**a `b` *c* d** e")).toEqual([["paragraph", "bold(a )code(b)bold( )italic(c)bold( d)( e)"]]);
  expect(shown("~~old~~ __new__ _so_ snake_case_name ~5 __init__.py \\*no\\*")).toEqual([
    ["paragraph", "struck(old)( )bold(new)( )italic(so)( snake_case_name ~5 __init__.py )(*no)(*)"],
  ]);
});

it("reads formulas whole and leaves prices as they are", () => {
  expect(shown("$x_{a} * y_{b}$ and \\(a*b*c\\) and $$\\sum _i_ *x*$$")).toEqual([
    ["paragraph", "formula($x_{a} * y_{b}$)( and )formula(\\(a*b*c\\))( and )formula($$\\sum _i_ *x*$$)"],
  ]);
  expect(shown("\\[\nE_{a} = *m* c^2\n\\]")).toEqual([["paragraph", "formula(\\[\nE_{a} = *m* c^2\n\\])"]]);
  expect(shown("$5 to $10, $7_a")).toEqual([["paragraph", "($5 to $10, $7_a)"]]);
});

it("keeps the lists of two quotes apart", () => {
  const item = (text: string) => [["paragraph", `(${text})`]];
  expect(shown("1. a\n2. b [1]\n1. c\n2. d [2]")).toEqual([
    [1, item("a"), item("b [1]")],
    [1, item("c"), item("d [2]")],
  ]);
  expect(shown("- a\n- b [1]\n- c\n- d [2]")).toEqual([
    ["list", item("a"), item("b [1]")],
    ["list", item("c"), item("d [2]")],
  ]);
  expect(shown("- a [1]\n- b [1]\n- c [2]")).toEqual([["list", item("a [1]"), item("b [1]"), item("c [2]")]]);
  expect(shown("1. a\n1. b\n1. c")).toEqual([[1, item("a"), item("b"), item("c")]]);
});

it("shows a quoted row as a table", () => {
  expect(shown("Elbrad:\ncity: Hamburg; since: 2026; sold: 0 [2]")).toEqual([
    ["paragraph", "(Elbrad:)"],
    ["table", [], ["(city)", "(Hamburg)"], ["(since)", "(2026)"], ["(sold)", "(0 [2])"]],
  ]);
  expect(shown("Note: a; and b; c: d")).toEqual([["paragraph", "(Note: a; and b; c: d)"]]);
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
  expect(plainOf("## A\n- **b** `c_d`\n1. 2*3*4\n> q\n> r")).toBe("A\nb c_d\n2*3*4\nq\nr");
  expect(plainOf("")).toBe("");
});

it("shows unfinished code", () => expect(shown("```\nx")).toEqual([["code", "(x)"]]));

it("takes linear time", () => {
  const began = performance.now();
  blocksOf("**a ".repeat(5000));
  blocksOf("```\n".repeat(2001));
  blocksOf("*".repeat(20_000));
  blocksOf("```\n".repeat(50_001));
  blocksOf("> ".repeat(20_000));
  blocksOf("- ".repeat(20_000));
  blocksOf("- a\n> b\n".repeat(1000));
  blocksOf("|a\n|-\n".repeat(1000));
  blocksOf(`|\n${" ".repeat(20_000)}|x`);
  blocksOf("$a ".repeat(5000));
  blocksOf("\\[".repeat(5000));
  bulleted(`${"- ".repeat(20_000)}\n${" ".repeat(20_000)}`);
  expect(performance.now() - began).toBeLessThan(1500);
});

import { expect, it } from "vitest";
import { asJson, asMarkdown, comparisonCsv, csvOf } from "./exporting";
import { answered, cited } from "./samples";
import { ofCitation } from "./target";
import { fresh } from "./turns";

const turn = {
  ...fresh("1", "Why\nstone?"),
  text: "It is old. [1]",
  answer: answered("It is old. [1]", { citations: [cited(1)] }),
};

it("writes questions, answers and what they cite", () => {
  expect(asMarkdown("My\ntrip", [turn])).toBe(
    "# My trip\n\n## Why stone?\n\nIt is old. [1]\n\n[1] About stone: “Stone”\n",
  );
  const read = JSON.parse(asJson({ session: "s", title: "t" }, [turn]));
  expect([read.session, read.turns[0].question, read.turns[0].complete.citations[0].marker]).toEqual([
    "s",
    "Why\nstone?",
    1,
  ]);
});

it("writes a list as CSV that no spreadsheet runs", () => {
  const one = ofCitation(cited(1, { title: '=A "1", b', quote: "Stone\nis old." }), []);
  const [head, row] = csvOf([one], new Map([[one.documentId, "2024-05"]])).split("\n");
  expect(head).toBe("\uFEFFtitle,date,document_id,quote,start,end,page,url");
  expect(row).toMatch(/^"'=A ""1"", b",2024-05,.*,Stone is old\.,\d+,\d+,/);
});

it("writes a comparison as CSV with the documents of its numbers", () => {
  const table = "| Aspect | A | B |\n|---|---|---|\n| Price | 5, net [1] | not found |";
  const [head, row, source] = comparisonCsv(table, [ofCitation(cited(1), [])]).split("\n");
  expect([head, row]).toEqual(["\uFEFFAspect,A,B", 'Price,"5, net [1]",not found']);
  expect(source).toMatch(/^\[1\],About stone,/);
});

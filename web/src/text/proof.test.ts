import { describe, expect, it } from "vitest";
import type { SentenceEvent, Statement } from "../api/types";
import { blocksOf } from "./markdown";
import { locatedIn, passagesOf, provedOf } from "./proof";

const said = (start: number, end: number, markers: number[], reason = ""): Statement => ({
  start,
  end,
  support: 1,
  state: reason ? "contradicted" : "supported",
  markers,
  reason,
});
const citation = (marker: number) => ({
  marker,
  document_id: "d",
  chunk_id: "c",
  start: 0,
  end: 1,
  quote: "q",
  title: "",
  url: "",
  section: "",
  page: "",
});

describe("the sentences of an answer", () => {
  it("have Python's offsets and end before their markers", () => {
    const text = "🪨 is stone. [1] Sky [9] is made of it. [2] [?]";
    const points = Array.from(text).length;
    const [first, second] = provedOf(text, [said(0, 15, [1]), said(16, points, [2], "no")]);
    expect(text.slice(first?.start, first?.end)).toBe("🪨 is stone.");
    expect(text.slice(second?.start, second?.end)).toBe("Sky [9] is made of it.");
  });

  it("keep brackets that are not markers", () => {
    const text = "As shown in [7]";
    expect(provedOf(text, [said(0, 15, [1])])[0]?.end).toBe(15);
  });

  it("are located in an unfinished answer", () => {
    const sentence = (text: string, marker: number): SentenceEvent => ({
      text,
      state: "supported",
      support: 1,
      reason: "",
      citations: [citation(marker)],
    });
    const found = locatedIn("Same. Same. Not yet", [sentence("Same.", 1), sentence("Same.", 2), sentence("Gone.", 3)]);
    expect(found.map((one) => [one.start, one.end, one.markers])).toEqual([
      [0, 5, [1]],
      [6, 11, [2]],
    ]);
  });

  it("are split at bold text and lines, and closed once", () => {
    const text = "A **bold. [1] Next** one. [2]\n\n- item [1]";
    const at = (part: string) => text.indexOf(part);
    const proofs = provedOf(text, [
      said(0, at(" Next"), [1]),
      said(at("Next"), at("\n\n"), [2]),
      said(at("item"), text.length, [1]),
    ]);
    const passages = [...passagesOf(text, blocksOf(text), proofs).values()].flat();
    const told = passages.map((one) => [
      one.sentence,
      one.closed,
      one.pieces.map((piece) => piece.look + piece.text).join("|"),
    ]);
    expect(told).toEqual([
      [0, true, "A |boldbold."],
      [null, false, "bold "],
      [1, true, "boldNext| one."],
      [2, true, "item"],
    ]);
  });

  it("are the rows of a table, closed in the last cell", () => {
    const text = "| Plan | Cost |\n|--|--|\n| A | 1 [2] |\n| B | 2 [?] |";
    const at = (part: string) => text.indexOf(part);
    const proofs = provedOf(text, [
      said(at("| A"), at("\n| B"), [2]),
      said(at("| B"), text.length, [], "the passage says 3, not 2"),
    ]);
    const told = [...passagesOf(text, blocksOf(text), proofs).values()].map((cell) =>
      cell.map((one) => [one.sentence, one.closed, one.pieces.map((piece) => piece.text).join("")]),
    );
    expect(told).toEqual([
      [[null, false, "Plan"]],
      [[null, false, "Cost"]],
      [[0, false, "A"]],
      [[0, true, "1"]],
      [[1, false, "B"]],
      [[1, true, "2"]],
    ]);
    expect(proofs.map((one) => one.flag?.reason)).toEqual([undefined, "the passage says 3, not 2"]);
  });
});

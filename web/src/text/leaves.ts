import type { Mark } from "../api/types";
import type { CodePoints } from "./codepoints";
import type { Range } from "./parts";

/** A slide or a sheet: characters of the document's text, and its number or name. */
export interface Leaf extends Range {
  label: string;
}

const SLIDES = ["pptx", "ppt", "odp"];
const SHEETS = ["xlsx", "xlsm", "xls", "ods"];

export type LeafKind = "slide" | "sheet";

/** Return what a document of a kind is made of, if it is slides or sheets. */
export function leafKind(kind: unknown, marks: readonly Mark[]): LeafKind | null {
  if (typeof kind !== "string") return null;
  const found = SLIDES.includes(kind) ? "slide" : SHEETS.includes(kind) ? "sheet" : null;
  return found && marks.some(begins(found)) ? found : null;
}

/** Return the slides or sheets of a document in their order: its pages, or what begins with a heading and has a table. */
export function leavesOf(kind: LeafKind, points: CodePoints, marks: readonly Mark[]): Leaf[] {
  const first = marks.filter(begins(kind));
  return first.map((mark, at) => ({
    label: mark.label,
    start: points.unit(mark.start),
    end: first[at + 1] ? points.unit((first[at + 1] as Mark).start) : points.text.length,
  }));
}

const begins = (kind: LeafKind) => (mark: Mark) => mark.kind === (kind === "slide" ? "page" : "heading");

/** Return the number of the leaf in which a range begins; the first one if it begins in none. */
export const leafAt = (leaves: readonly Leaf[], { start }: Range): number =>
  Math.max(
    0,
    leaves.findLastIndex((leaf) => leaf.start <= start),
  );

import type { Mark } from "../api/types";
import type { CodePoints } from "./codepoints";

/** Characters `start` to `end` of a text, in units of JavaScript. */
export interface Range {
  start: number;
  end: number;
}

/** A part of a document: a paragraph, a heading, code, a table, or the start of a page. */
export interface Part extends Range {
  kind: "paragraph" | Mark["kind"];
  level: number;
  label: string;
  /** Rows of column headings that a table begins with. */
  header: number;
}

/**
 * A document's text as parts in order, by its marks. Every character that is no blank is in exactly one, but for the
 * signs before a heading.
 */
export function partsOf(points: CodePoints, marks: readonly Mark[]): Part[] {
  const at = (mark: Mark): Part => {
    const start = points.unit(mark.start);
    const end = points.unit(mark.end);
    const signs = mark.kind === "heading" ? /^#{1,6}\s+(?=\S)/.exec(points.text.slice(start, end)) : null;
    return { ...mark, start: start + (signs?.[0].length ?? 0), end };
  };
  const pages = marks.filter((mark) => mark.kind === "page").map(at);
  const solid = marks.filter((mark) => mark.kind !== "page").map(at);
  const out: Part[] = [];
  let cursor = 0;
  for (const part of [...solid, null]) {
    const start = part ? part.start : points.text.length;
    if (start < cursor) continue; // within the one before
    out.push(...paragraphs(points.text, cursor, part?.kind === "heading" ? before(points.text, start) : start, pages));
    if (part) out.push(part);
    cursor = part ? part.end : start;
  }
  return withPages(out, pages);
}

/** Return where the markup before a heading begins. */
const before = (text: string, heading: number): number => {
  const line = text.lastIndexOf("\n", heading - 1) + 1;
  return /^[#\s]*$/.test(text.slice(line, heading)) ? line : heading;
};

function paragraphs(text: string, start: number, end: number, pages: readonly Part[]): Part[] {
  const blank = /\n[^\S\n]*\n\s*/g;
  const cuts = [...text.slice(start, end).matchAll(blank)].map((found) => start + found.index + found[0].length);
  const begins = pages.map((page) => page.start).filter((one) => one > start && one < end);
  const places = [...new Set([start, ...cuts, ...begins, Math.max(start, end)])].sort((a, b) => a - b);
  return places.slice(1).flatMap((until, number): Part[] => {
    const from = places[number] as number;
    const words = text.slice(from, until);
    if (!words.trim()) return [];
    const [left, right] = [words.length - words.trimStart().length, words.trimEnd().length];
    return [{ kind: "paragraph", start: from + left, end: from + right, level: 0, label: "", header: 0 }];
  });
}

/** Return the parts with a line before the content of each page. */
function withPages(parts: readonly Part[], pages: readonly Part[]): Part[] {
  const out: Part[] = [];
  let next = 0;
  for (const part of parts) {
    for (; next < pages.length && (pages[next] as Part).start <= part.start; next++) {
      const page = pages[next] as Part;
      out.push({ ...page, end: page.start });
    }
    out.push(part);
  }
  return out;
}

export interface Lit {
  text: string;
  /** The index of the range that contains it; the first one wins. */
  range: number | null;
}

/** Split a part's text where ranges begin and end. */
export function lit(text: string, part: Part, ranges: readonly Range[]): Lit[] {
  const words = text.slice(part.start, part.end);
  const shown = part.kind === "paragraph" ? flowed(words) : words;
  const inside = (place: number) => place > part.start && place < part.end;
  const cuts = ranges.flatMap((range) => [range.start, range.end]).filter(inside);
  const places = [...new Set([part.start, ...cuts, part.end])].sort((a, b) => a - b);
  return places.slice(1).map((until, number) => {
    const from = places[number] as number;
    const range = ranges.findIndex((one) => one.start <= from && until <= one.end);
    return { text: shown.slice(from - part.start, until - part.start), range: range < 0 ? null : range };
  });
}

const WRAPPED = 50;
const BEGINS = /^\s*(?:[-*+•|#>]|\d{1,3}[.)])/;

/** Join the lines of a paragraph that was wrapped at a width; lists and short lines stay. */
export function flowed(text: string): string {
  const lines = text.split("\n");
  return lines
    .map((line, at) => {
      const next = lines[at + 1];
      if (next === undefined) return line;
      return line + (line.length >= WRAPPED && !BEGINS.test(next) && !line.startsWith("|") ? " " : "\n");
    })
    .join("");
}

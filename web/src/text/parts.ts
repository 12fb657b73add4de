import type { Mark } from "../api/types";
import type { CodePoints } from "./codepoints";
import { bulleted, type Stretch, stretchesOf } from "./markdown";

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
 * signs before a heading and the fences around code.
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
    out.push(...paragraphs(points.text, cursor, part ? before(points.text, part) : start, pages));
    if (part) out.push(part);
    cursor = part ? after(points.text, part) : start;
  }
  return withPages(out, pages);
}

/** Return where the signs before a heading or the fence before code begins. */
function before(text: string, { kind, start }: Part): number {
  const markup = kind === "heading" ? /^[#\s]*$/ : kind === "code" ? /^[ \t]*(`{3,}|~{3})[^`\n]*\n$/ : null;
  const line = text.lastIndexOf("\n", start - (kind === "code" ? 2 : 1)) + 1;
  return markup?.test(text.slice(line, start)) ? line : start;
}

/** Return where the fence after code ends. */
function after(text: string, { kind, end }: Part): number {
  const fence = /\n[ \t]*(`{3,}|~{3,})[ \t]*(?=\n|$)/y;
  fence.lastIndex = end;
  return kind === "code" && fence.test(text) ? fence.lastIndex : end;
}

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
  look: Stretch["look"];
}

/** Longer parts are shown as they are written: they might become more elements than a browser can handle. */
const LONGEST = 100_000;

/** Split a part's text where ranges begin and end and, if it is Markdown, where its look changes. */
export function lit(text: string, part: Part, ranges: readonly Range[], isMarkdown = false): Lit[] {
  const words = text.slice(part.start, part.end);
  const isRead = isMarkdown && (part.kind === "paragraph" || part.kind === "heading") && words.length <= LONGEST;
  const lines = isRead ? bulleted(words) : words;
  const shown = part.kind === "paragraph" ? flowed(lines) : lines;
  const stretches: Stretch[] = isRead ? stretchesOf(words) : [{ start: 0, end: words.length, look: "" }];
  const cuts = ranges.flatMap((range) => [range.start - part.start, range.end - part.start]).sort((a, b) => a - b);
  return stretches.flatMap(({ start, end, look }) => {
    const inside = cuts.filter((cut) => cut > start && cut < end);
    const places = [...new Set([start, ...inside, end])];
    return places.slice(1).map((until, number): Lit => {
      const from = places[number] as number;
      const range = ranges.findIndex((one) => one.start <= part.start + from && part.start + until <= one.end);
      return { text: shown.slice(from, until), range: range < 0 ? null : range, look };
    });
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

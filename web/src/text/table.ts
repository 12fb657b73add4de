import type { Range } from "./parts";

/** A row of a table: where its cells stand in the text of the document. */
export interface Row {
  kind: "header" | "section" | "body";
  cells: Range[];
}

/** The line below the head. No two parts match the same characters, so a long line costs no more than its length. */
export const DELIMITERS = /^[\s:|]*-[\s:|-]*$/;
const BAR = /(?<!\\)\|/g;

/** Rows to show: so many before and after those that `near` touches, or the first ones if it touches none. */
export interface Window {
  near: Range;
  before: number;
  after: number;
}

const ALL: Window = { near: { start: 0, end: 0 }, before: 0, after: Number.POSITIVE_INFINITY };

/** Rows of a table, and how many there are before and after them. */
export interface Rows {
  rows: Row[];
  earlier: number;
  later: number;
}

/**
 * Return rows of a table: lines with bars between their cells, or Markdown, as `ragstone/core/table.py` reads them.
 * `header` is the number of rows with column headings, which are always among them. A row with words in its first cell
 * alone names a section.
 */
export function rowsOf(text: string, { start, end }: Range, header: number, { near, before, after } = ALL): Rows {
  const lines = linesOf(text, start, end);
  const bare = (line: Range) => text.slice(line.start, line.end);
  const bars = lines.findIndex((line) => DELIMITERS.test(bare(line)));
  const fenced = bars >= 0 || lines.every((line) => /^\s*\|.*\|\s*$/.test(bare(line)));
  const written = bars >= 0 ? lines.filter((line) => !DELIMITERS.test(bare(line))) : lines;
  const above = bars >= 0 ? Math.max(1, header) : header;
  const body = written.slice(above);
  const touched = (line: Range) => line.start < near.end && near.start < line.end;
  const first = Math.max(0, body.findIndex(touched));
  const last = Math.max(first, body.findLastIndex(touched));
  const [from, until] = [Math.max(0, first - before), Math.min(body.length, last + after + 1)];
  const shown = [...written.slice(0, above), ...body.slice(from, until)];
  const rows = shown.map((line, number): Row => {
    const cells = cellsOf(text, line, fenced);
    const filled = cells.filter((cell) => cell.end > cell.start);
    const isSection = number >= above && cells.length > 1 && filled.length === 1 && filled[0] === cells[0];
    return { kind: number < above ? "header" : isSection ? "section" : "body", cells: isSection ? filled : cells };
  });
  return { rows, earlier: from, later: body.length - until };
}

function linesOf(text: string, start: number, end: number): Range[] {
  const out: Range[] = [];
  for (let at = start; at < end; ) {
    const found = text.indexOf("\n", at);
    const until = found < 0 || found > end ? end : found;
    if (text.slice(at, until).trim()) out.push({ start: at, end: until });
    at = until + 1;
  }
  return out;
}

/** Return the cells of a row; a fenced one may have a bar before the first and after the last. */
export function cellsOf(text: string, line: Range, fenced: boolean): Range[] {
  let { start, end } = trimmed(text, line);
  if (fenced) {
    if (text[start] === "|") start++;
    if (end - start > 1 && text[end - 1] === "|") end--;
  }
  const bars = [...text.slice(start, end).matchAll(BAR)].map((found) => start + found.index);
  return [...bars, end].map((until, number) =>
    trimmed(text, { start: number ? (bars[number - 1] as number) + 1 : start, end: until }),
  );
}

function trimmed(text: string, { start, end }: Range): Range {
  const words = text.slice(start, end);
  if (!words.trim()) return { start, end: start };
  return { start: start + words.length - words.trimStart().length, end: start + words.trimEnd().length };
}

import { cellsOf, DELIMITERS } from "./table";

export type Look = "" | "bold" | "italic" | "struck" | "code" | "formula";

/** A range of the source text and its look. A gap is what stands before a further line: `>` or an indentation. */
export interface Run {
  start: number;
  end: number;
  look: Look | "gap";
}

/** A range of the source text that is shown with a look, or an inline mark that is not shown. */
export interface Stretch {
  start: number;
  end: number;
  look: Look | "mark";
}

/** Words that stand together. The runs and the inline marks around them fill the range from its start to its end. */
export interface Words {
  runs: Run[];
  start: number;
  end: number;
}

/**
 * A block of an answer. `first` is the number of the first item of a list; null if it has bullets. `right` tells which
 * columns of a table are aligned to the right.
 */
export type Block =
  | { kind: "paragraph" | "heading" | "code"; words: Words }
  | { kind: "rule" }
  | { kind: "quote"; blocks: Block[] }
  | { kind: "list"; first: number | null; items: Block[][] }
  | { kind: "table"; head: Words[]; rows: Words[][]; right: boolean[] };

const KINDS = ["markdown", "notion"];

/** Return whether documents of a kind are stored as Markdown. */
export const isMarkdown = (kind: unknown): boolean => typeof kind === "string" && KINDS.includes(kind);

/** A line without what the quotations and lists around it put before it. */
interface Line {
  start: number;
  end: number;
}

const ITEM = /^(\s*)(?:[-*+•]|(\d{1,3})[.)])\s+(?=\S)/;
const HEADING = /^ {0,3}#{1,6}\s+/;
const FENCE = /^ {0,3}(`{3,}|~{3,})[^`]*$/;
const QUOTE = /^ {0,3}> ?/;
const RULE = /^ {0,3}([-*_])(?:[ \t]*\1){2,}\s*$/;
/** Formulas come first: their stars and underscores are their own. */
const INLINE = new RegExp(
  [
    /`(?<code>[^`\n]+)`/,
    /(?<formula>\$\$[^$]{1,1000}\$\$|\$(?=[^\s$])[^$\n]{0,300}?(?<![\s\\])\$(?!\w)|\\\([^\n]{1,300}?\\\)|\\\[[\s\S]{1,1000}?\\\])/,
    /\\(?<escaped>[*_$|#`~<>])/,
    /(?<!\*)\*\*(?=\*?[^\s*])(?<stars>[\s\S]{0,1000}?\S)\*\*(?!\*)/,
    /(?<!\w)__(?=[^\s_])(?<lines>[^\n]{0,300}?[^\s_])__(?!\w|\.\w)/,
    /~~(?=\S)(?<struck>[^\n]{0,300}?\S)~~/,
    /(?<![\w*])\*(?=[^\s*])(?<star>[^*\n]*[^\s*])\*(?![\w*])/,
    /(?<![\w_])_(?=[^\s_])(?<line>[^_\n]*[^\s_])_(?![\w_])/,
  ]
    .map((one) => one.source)
    .join("|"),
  "g",
);
/** What inline markup begins with. To look for it first saves time: `matchAll` copies its expression. */
const SIGN = /[`*_~$\\]/;
const LOOKS = {
  code: ["code", 1],
  stars: ["bold", 2],
  lines: ["bold", 2],
  struck: ["struck", 2],
  star: ["italic", 1],
  line: ["italic", 1],
} as const satisfies Record<string, readonly [Look, number]>;
/** How deep quotations and lists are read; what is deeper stays text. */
const DEEPEST = 6;
/** A row of a table as it is quoted: at least three names with their values. */
const RECORD = /^[^:;|.!?]{1,40}: [^;]*(?:; [^:;|.!?]{1,40}: [^;]*){2,}$/;
const MARKED = /\[\d{1,3}\]\s*$/;

/**
 * The Markdown that answers have: paragraphs, headings, lists, quotations, tables, rules, code, bold, italic and struck
 * words, and formulas, whose run has their delimiters. Nothing else is read: links, pictures and HTML stay the text they
 * are. Every run knows its place, so that sentences can be told apart.
 */
export const blocksOf = (text: string): Block[] => new Reader(text).blocks(linesOf(text), 0);

/** Return the words of blocks in the order of the text. */
export function wordsOf(blocks: readonly Block[]): Words[] {
  return blocks.flatMap((block) => {
    if (block.kind === "rule") return [];
    if (block.kind === "quote") return wordsOf(block.blocks);
    if (block.kind === "list") return block.items.flatMap(wordsOf);
    return block.kind === "table" ? [block.head, ...block.rows].flat() : [block.words];
  });
}

/** Return a text without the marks of its Markdown, each block, item and cell on a line of its own. */
export const plainOf = (text: string): string =>
  wordsOf(blocksOf(text))
    .map((words) => saidBy(text, words))
    .join("\n");

/** Return words without the marks of their Markdown. */
const saidBy = (text: string, { runs }: Words): string =>
  runs.map((run) => (run.look === "gap" ? "" : text.slice(run.start, run.end))).join("");

/** Return the cells of the first table of a text, its head first; no rows if it has no table. */
export function cellsIn(text: string): string[][] {
  const found = blocksOf(text).find((block) => block.kind === "table");
  return found ? [found.head, ...found.rows].map((row) => row.map((words) => saidBy(text, words))) : [];
}

/** Split a text into its looks and inline marks. Every character is in one stretch; what is not inline stays words. */
export function stretchesOf(text: string): Stretch[] {
  const out: Stretch[] = [];
  let last = 0;
  const until = (end: number, look: Stretch["look"]) => {
    if (end > last) out.push({ start: last, end, look });
    last = end;
  };
  for (const words of wordsOf(blocksOf(text))) {
    until(words.start, "");
    for (const run of words.runs) {
      until(run.start, "mark");
      until(run.end, run.look === "gap" ? "" : run.look);
    }
    until(words.end, "mark");
  }
  until(text.length, "");
  return out;
}

/** Return a text with bullets as the signs of its lists, behind spaces that HTML keeps. No character moves. */
export function bulleted(text: string): string {
  const lines = linesOf(text).map(({ start, end }) => {
    const line = text.slice(start, end);
    const item = ITEM.exec(line);
    if (!item) return line;
    const depth = (item[1] as string).length;
    const sign = item[2] ? line[depth] : "•";
    return `${"\u2002".repeat(depth)}${sign}${line.slice(depth + 1)}`;
  });
  return lines.join("\n");
}

/** An item of a list: the words before its first line, and its number if it has one. */
interface Item {
  indent: number;
  width: number;
  number: number | null;
}

/** Reads blocks from lines. */
class Reader {
  constructor(private readonly text: string) {}

  blocks(lines: readonly Line[], depth: number): Block[] {
    const out: Block[] = [];
    for (let at = 0; at < lines.length; ) at = this.block(lines, at, depth, out);
    return out;
  }

  /** Read the block that begins at a line, and return the line after it. */
  private block(lines: readonly Line[], at: number, depth: number, out: Block[]): number {
    const line = lines[at] as Line;
    const said = this.said(line);
    if (!said.trim()) return at + 1;
    const fence = FENCE.exec(said)?.[1];
    if (fence) {
      const end = until(lines, at + 1, (one) => this.said(one).trim().startsWith(fence));
      if (end > at + 1) out.push({ kind: "code", words: this.words(lines.slice(at + 1, end), true) });
      return end + 1;
    }
    const heading = HEADING.exec(said);
    if (heading) {
      out.push({ kind: "heading", words: this.words([{ ...line, start: line.start + heading[0].length }]) });
      return at + 1;
    }
    if (RULE.test(said)) {
      out.push({ kind: "rule" });
      return at + 1;
    }
    if (this.isTable(lines, at)) {
      const end = until(lines, at + 2, (one) => !this.said(one).includes("|"));
      const [head = [], ...rows] = [line, ...lines.slice(at + 2, end)].map((row) => this.cells(row));
      out.push({ kind: "table", head, rows, right: this.aligned(lines[at + 1] as Line) });
      return end;
    }
    if (RECORD.test(said)) {
      out.push({ kind: "table", head: [], rows: this.record(line), right: [] });
      return at + 1;
    }
    if (depth < DEEPEST && QUOTE.test(said)) {
      const end = until(lines, at, (one) => !QUOTE.test(this.said(one)));
      const inner = lines.slice(at, end).map((one) => this.without(one, QUOTE.exec(this.said(one))?.[0].length ?? 0));
      out.push({ kind: "quote", blocks: this.blocks(inner, depth + 1) });
      return end;
    }
    const item = depth < DEEPEST ? this.item(line) : null;
    if (item) return this.list(lines, at, item, depth, out);
    let end = at + 1;
    while (end < lines.length && !this.begins(lines, end, depth)) end++;
    out.push({ kind: "paragraph", words: this.words(lines.slice(at, end)) });
    return end;
  }

  /** Whether a paragraph ends before a line. */
  private begins(lines: readonly Line[], at: number, depth: number): boolean {
    const line = lines[at] as Line;
    const said = this.said(line);
    if (!said.trim() || [FENCE, HEADING, RULE, RECORD].some((one) => one.test(said))) return true;
    return this.isTable(lines, at) || (depth < DEEPEST && (QUOTE.test(said) || this.item(line) !== null));
  }

  private list(lines: readonly Line[], at: number, first: Item, depth: number, out: Block[]): number {
    const items: Block[][] = [];
    let item: Item | null = first;
    let isOver = false;
    while (item && !isOver && (item.number === null) === (first.number === null)) {
      const end = this.afterItem(lines, at, item, depth);
      const isMarked = MARKED.test(this.said(lines[end - 1] as Line));
      const { number }: Item = item;
      const { indent, width } = item;
      const inner = lines.slice(at, end).map((one, number) => {
        return this.without(one, number ? Math.min(this.indent(one), indent + width) : indent + width);
      });
      items.push(this.blocks(inner, depth + 1));
      at = until(lines, end, (one) => this.said(one).trim() !== "");
      const next = lines[at];
      item = next && !RULE.test(this.said(next)) ? this.item(next) : null;
      // A marker below several items closes a quoted list; numbers that begin again are another list, too.
      isOver =
        (isMarked && items.length > 1 && !items.slice(0, -1).some(hasMarker(this.text))) ||
        (item?.number !== null && item?.number === first.number && number !== first.number);
      if (!item) at = end;
    }
    out.push({ kind: "list", first: first.number, items });
    return at;
  }

  /** Return the line after an item: its further lines are indented, or go on with its words. */
  private afterItem(lines: readonly Line[], begin: number, item: Item, depth: number): number {
    let end = begin + 1;
    let isBlank = false;
    for (let at = end; at < lines.length; at++) {
      const line = lines[at] as Line;
      if (!this.said(line).trim()) {
        isBlank = true;
        continue;
      }
      const isInside = this.indent(line) >= item.indent + 2;
      const isOver = isBlank || FENCE.test(this.said(lines[at - 1] as Line).trim()) || this.begins(lines, at, depth);
      if (!isInside && isOver) break;
      isBlank = false;
      end = at + 1;
    }
    return end;
  }

  private item(line: Line): Item | null {
    const found = ITEM.exec(this.said(line));
    if (!found) return null;
    const indent = (found[1] as string).length;
    return { indent, width: found[0].length - indent, number: found[2] ? Number(found[2]) : null };
  }

  private isTable(lines: readonly Line[], at: number): boolean {
    const [head, next] = [lines[at], lines[at + 1]];
    if (!head || !next || !this.said(head).includes("|")) return false;
    const below = this.said(next);
    return below.includes("|") && DELIMITERS.test(below);
  }

  private cells(row: Line): Words[] {
    return cellsOf(this.text, row, true).map((cell) => this.words([cell]));
  }

  /** Return which columns the line below the head of a table aligns to the right. */
  private aligned(below: Line): boolean[] {
    return cellsOf(this.text, below, true).map(({ start, end }) => /^-+:$/.test(this.text.slice(start, end)));
  }

  /** Return the names and values of a quoted row, each pair as a row of its own. */
  private record(line: Line): Words[][] {
    let { start } = line;
    return this.said(line)
      .split("; ")
      .map((pair) => {
        const [begin, middle] = [start, start + pair.indexOf(": ")];
        start += pair.length + 2;
        const value = { start: middle + 2, end: begin + pair.length };
        return [this.words([{ start: begin, end: middle }]), this.words([value])];
      });
  }

  private words(lines: readonly Line[], isCode = false): Words {
    const [start, end] = [(lines[0] as Line).start, (lines.at(-1) as Line).end];
    const runs: Run[] = isCode ? [{ start, end, look: "" }] : runsOf(this.text, start, end);
    const gaps = lines.slice(1).map((line, before) => ({ start: (lines[before] as Line).end + 1, end: line.start }));
    return { runs: parted(runs, gaps), start, end };
  }

  private said = (line: Line): string => this.text.slice(line.start, line.end);

  private indent = (line: Line): number => /^\s*/.exec(this.said(line))?.[0].length ?? 0;

  private without = (line: Line, width: number): Line => ({ ...line, start: Math.min(line.end, line.start + width) });
}

/** Return whether the last words of blocks end with a marker. */
const hasMarker = (text: string) => (blocks: readonly Block[]) => {
  const last = wordsOf(blocks).at(-1);
  return last !== undefined && MARKED.test(text.slice(last.start, last.end));
};

/** Return the first line from a place on that is wanted, or the end. */
function until(lines: readonly Line[], from: number, isWanted: (line: Line) => boolean): number {
  let at = from;
  while (at < lines.length && !isWanted(lines[at] as Line)) at++;
  return at;
}

/** Return runs, with the gaps between lines as runs of their own. No inline mark holds a gap. */
function parted(runs: readonly Run[], gaps: readonly Line[]): Run[] {
  const wide = gaps.filter((gap) => gap.end > gap.start);
  let next = 0;
  return runs.flatMap((run) => {
    const out: Run[] = [];
    let { start } = run;
    for (let gap = wide[next]; gap && gap.start < run.end; gap = wide[++next]) {
      if (gap.start > start) out.push({ ...run, start, end: gap.start });
      out.push({ ...gap, look: "gap" });
      start = gap.end;
    }
    if (run.end > start) out.push({ ...run, start });
    return out;
  });
}

function linesOf(text: string): Line[] {
  const out: Line[] = [];
  for (let start = 0; start <= text.length; ) {
    const found = text.indexOf("\n", start);
    const end = found < 0 ? text.length : found;
    out.push({ start, end });
    start = end + 1;
  }
  return out;
}

function runsOf(text: string, start: number, end: number): Run[] {
  const out: Run[] = [];
  let last = start;
  const plain = (until: number) => {
    if (until > last) out.push({ start: last, end: until, look: "" });
  };
  const said = text.slice(start, end);
  for (const found of SIGN.test(said) ? said.matchAll(INLINE) : []) {
    const groups = found.groups as Record<string, string | undefined>;
    const begin = start + found.index;
    plain(begin);
    if (groups.formula !== undefined) {
      last = begin + found[0].length;
      out.push({ start: begin, end: last, look: "formula" });
      continue;
    }
    last = begin + 1;
    if (groups.escaped !== undefined) continue;
    const kind = (Object.keys(LOOKS) as (keyof typeof LOOKS)[]).find((one) => groups[one] !== undefined);
    const [look, width] = LOOKS[kind ?? "code"];
    const [from, until] = [begin + width, begin + found[0].length - width];
    last = begin + found[0].length;
    if (look === "code") out.push({ start: from, end: until, look });
    else out.push(...runsOf(text, from, until).map((run) => ({ ...run, look: run.look || look })));
  }
  plain(end);
  return out;
}

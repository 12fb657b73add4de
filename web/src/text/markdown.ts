export type Look = "" | "bold" | "italic" | "code";

/** A range of the source text and its look. */
export interface Run {
  start: number;
  end: number;
  look: Look;
}

/** A range of the source text that is shown with a look, or an inline mark that is not shown. */
export interface Stretch {
  start: number;
  end: number;
  look: Look | "mark";
}

/** A block of an answer. List items have a depth; every other block has one item. */
export interface Block {
  kind: "paragraph" | "heading" | "code" | "list" | "numbers";
  /** The runs of an item and the inline marks around them fill the range from its start to its end. */
  items: { runs: Run[]; depth: number; start: number; end: number }[];
  /** Number of the first item of a list. */
  first: number;
}

const KINDS = ["markdown", "notion"];

/** Return whether documents of a kind are stored as Markdown. */
export const isMarkdown = (kind: unknown): boolean => typeof kind === "string" && KINDS.includes(kind);

interface Line {
  start: number;
  end: number;
  text: string;
}

const ITEM = /^(\s*)(?:[-*+•]|(\d{1,3})[.)])\s+(?=\S)/;
const HEADING = /^ {0,3}#{1,6}\s+/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const INLINE =
  /`(?<code>[^`\n]+)`|\*\*(?=\S)(?<bold>[\s\S]{0,1000}?\S)\*\*|(?<![\w*])\*(?=[^\s*])(?<italic>[^*\n]*[^\s*])\*(?![\w*])/g;

/**
 * The little Markdown that answers have: paragraphs, headings, lists, code, bold and italic. Nothing else is read:
 * links, pictures and HTML stay the text they are. Every run knows its place, so that sentences can be told apart.
 */
export function blocksOf(text: string): Block[] {
  const reader = new Reader(text);
  const lines = linesOf(text);
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as Line;
    const fence = FENCE.exec(line.text)?.[1];
    if (!fence) {
      reader.take(line);
      continue;
    }
    let after = at + 1;
    while (after < lines.length && !lines[after]?.text.trim().startsWith(fence)) after++;
    reader.code(lines.slice(at + 1, after));
    at = after;
  }
  return reader.end();
}

/** Return a text without the marks of its Markdown, each block on a line of its own. */
export function plainOf(text: string): string {
  return blocksOf(text)
    .flatMap((block) => block.items)
    .map((item) => item.runs.map((run) => text.slice(run.start, run.end)).join(""))
    .join("\n");
}

/** Split a text into its looks and inline marks. Every character is in one stretch; what is not inline stays words. */
export function stretchesOf(text: string): Stretch[] {
  const out: Stretch[] = [];
  let last = 0;
  const until = (end: number, look: Stretch["look"]) => {
    if (end > last) out.push({ start: last, end, look });
    last = end;
  };
  for (const item of blocksOf(text).flatMap((block) => block.items)) {
    until(item.start, "");
    for (const run of item.runs) {
      until(run.start, "mark");
      until(run.end, run.look);
    }
    until(item.end, "mark");
  }
  until(text.length, "");
  return out;
}

/** Return a text with bullets as the signs of its lists, behind spaces that HTML keeps. No character moves. */
export function bulleted(text: string): string {
  const lines = linesOf(text).map((line) => {
    const item = ITEM.exec(line.text);
    if (!item) return line.text;
    const depth = (item[1] as string).length;
    const sign = item[2] ? line.text[depth] : "•";
    return `${"\u2002".repeat(depth)}${sign}${line.text.slice(depth + 1)}`;
  });
  return lines.join("\n");
}

/** Joins lines into blocks. */
class Reader {
  private readonly blocks: Block[] = [];
  /** The item that the next line may continue. */
  private open: { block: Block; start: number; end: number; depth: number } | null = null;

  constructor(private readonly text: string) {}

  take(line: Line): void {
    const heading = HEADING.exec(line.text);
    const item = ITEM.exec(line.text);
    if (!line.text.trim()) this.close();
    else if (heading) {
      this.begin(this.block("heading"), line, heading[0].length);
      this.close();
    } else if (item) {
      const kind = item[2] ? "numbers" : "list";
      this.close();
      const last = this.blocks.at(-1);
      const block = last?.kind === kind ? last : this.block(kind, Number(item[2] ?? 1));
      this.begin(block, line, item[0].length, Math.min(3, Math.floor((item[1] as string).length / 2)));
    } else if (this.open) this.open.end = line.end;
    else this.begin(this.block("paragraph"), line);
  }

  code(lines: readonly Line[]): void {
    this.close();
    const [first, last] = [lines[0], lines.at(-1)];
    if (!first || !last) return;
    const range = { start: first.start, end: last.end };
    this.block("code").items.push({ runs: [{ ...range, look: "" }], depth: 0, ...range });
  }

  end(): Block[] {
    this.close();
    return this.blocks.filter((block) => block.items.some((item) => item.runs.length));
  }

  private block(kind: Block["kind"], first = 1): Block {
    const block: Block = { kind, items: [], first };
    this.blocks.push(block);
    return block;
  }

  private begin(block: Block, line: Line, skipped = 0, depth = 0): void {
    this.close();
    this.open = { block, start: line.start + skipped, end: line.end, depth };
  }

  private close(): void {
    if (!this.open) return;
    const { block, start, end, depth } = this.open;
    block.items.push({ runs: runsOf(this.text, start, end), depth, start, end });
    this.open = null;
  }
}

function linesOf(text: string): Line[] {
  const out: Line[] = [];
  for (let start = 0; start <= text.length; ) {
    const found = text.indexOf("\n", start);
    const end = found < 0 ? text.length : found;
    out.push({ start, end, text: text.slice(start, end) });
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
  for (const found of text.slice(start, end).matchAll(INLINE)) {
    const { code, bold } = found.groups as { code?: string; bold?: string };
    const begin = start + found.index;
    const width = bold === undefined ? 1 : 2;
    plain(begin);
    last = begin + found[0].length;
    const [from, until] = [begin + width, last - width];
    if (bold === undefined) out.push({ start: from, end: until, look: code === undefined ? "italic" : "code" });
    else out.push(...runsOf(text, from, until).map((run) => ({ ...run, look: run.look || "bold" })));
  }
  plain(end);
  return out;
}

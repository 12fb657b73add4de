import { Fragment } from "react";
import { Looking } from "../shell/Looking";
import type { Look } from "../text/markdown";
import { type Lit, lit, type Part, type Range } from "../text/parts";

interface Props {
  text: string;
  part: Part;
  /** The first range was opened, the others are cited too. */
  ranges: readonly Range[];
  /** Whether inline Markdown is shown as it looks. */
  isMarkdown?: boolean | undefined;
}

/** The words of a part of a document, with those marked that are cited. */
export function Pieces({ text, part, ranges, isMarkdown }: Props) {
  return groupsOf(lit(text, part, ranges, isMarkdown)).map(({ range, pieces }, at) => {
    const inside = pieces.map((piece, number) => <Looking key={number} {...piece} />);
    if (range === null) return <Fragment key={at}>{inside}</Fragment>;
    if (range === 0) return <mark key={at}>{inside}</mark>;
    return (
      <span key={at} className="also-cited">
        {inside}
      </span>
    );
  });
}

interface Group {
  range: number | null;
  pieces: { text: string; look: Look }[];
}

/** Join neighbouring pieces of one range, without the marks of Markdown. */
function groupsOf(pieces: readonly Lit[]): Group[] {
  const out: Group[] = [];
  for (const { text, range, look } of pieces) {
    if (look === "mark") continue;
    const last = out.at(-1);
    if (last && last.range === range) last.pieces.push({ text, look });
    else out.push({ range, pieces: [{ text, look }] });
  }
  return out;
}

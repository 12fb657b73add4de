import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { StoredDocument } from "../api/types";
import { IconButton } from "../shell/Button";
import { CodePoints } from "../text/codepoints";
import { type Leaf, type LeafKind, leafAt, leavesOf } from "../text/leaves";
import { type Part, partsOf, type Range } from "../text/parts";
import { words } from "../words/words";
import { PartView } from "./DocumentText";

interface Props {
  document: StoredDocument;
  kind: LeafKind;
  /** Spans in code points; the first one was opened, the others are other citations of this document. */
  spans: readonly Range[];
  /** What to know of the file, if it is no longer as it was read. */
  notice: React.ReactNode;
}

const NOWHERE = { start: 0, end: 0 };
/** So few rows that the headings of their table are in sight, too. */
const ROWS_AROUND = 8;
/** How the readers of presentations write what the speaker noted. */
const NOTES = "Notes: ";

/** The slides or sheets of a document, one at a time, with the cited words marked. */
export function LeafView({ document, kind, spans, notice }: Props) {
  const { text, marks, metadata } = document;
  const points = useMemo(() => new CodePoints(text), [text]);
  const parts = useMemo(() => partsOf(points, marks), [points, marks]);
  const leaves = useMemo(() => leavesOf(kind, points, marks), [kind, points, marks]);
  const ranges = useMemo(
    () => spans.map((one) => ({ start: points.unit(one.start), end: points.unit(one.end) })),
    [points, spans],
  );
  const main = ranges[0] ?? NOWHERE;
  const first = leafAt(leaves, main);
  const [at, setAt] = useState(first);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another citation begins on its own leaf
  useEffect(() => setAt(first), [first, main.start, main.end]);
  const body = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new span needs a new scroll position
  useLayoutEffect(() => {
    body.current?.querySelector("mark")?.scrollIntoView({ block: "center", inline: "nearest" });
  }, [main.start, main.end, at]);
  const leaf = leaves[Math.min(at, leaves.length - 1)] as Leaf;
  const own = parts.filter((part) => part.kind !== "page" && part.start >= leaf.start && part.start < leaf.end);
  const noted = kind === "slide" ? own.findIndex((part) => text.startsWith(NOTES, part.start)) : -1;
  const shown = (some: readonly Part[]) =>
    some.map((part) => (
      <PartView key={`${part.kind}${part.start}`} text={text} part={part} ranges={ranges} around={ROWS_AROUND} />
    ));
  const say = words();
  const place =
    kind === "slide"
      ? say.slideOf(leaf.label, Number(metadata.pages) || leaves.length)
      : say.sheetOf(leaf.label, at + 1, leaves.length);
  return (
    <div className="paper-frame">
      <nav className="source-nav" aria-label={say.leaves[kind]}>
        <IconButton icon="left" label={say.previousLeaf[kind]} disabled={at <= 0} onClick={() => setAt(at - 1)} />
        <span aria-live="polite">{place}</span>
        <IconButton
          icon="right"
          label={say.nextLeaf[kind]}
          disabled={at >= leaves.length - 1}
          onClick={() => setAt(at + 1)}
        />
        {at !== first && (
          <button type="button" className="button small bare" onClick={() => setAt(first)}>
            {say.toCitedLeaf[kind]}
          </button>
        )}
      </nav>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section key={at} ref={body} className="paper-body" tabIndex={0} aria-label={say.original}>
        {notice}
        <div className={`document leaf ${kind}`}>{shown(noted < 0 ? own : own.slice(0, noted))}</div>
        {noted >= 0 && (
          <div className="document notes">
            <p className="page-label">{say.speakerNotes}</p>
            {shown(withoutLabel(own.slice(noted)))}
          </div>
        )}
      </section>
    </div>
  );
}

/** Return notes without the word that introduces them, because a heading above them says so. */
const withoutLabel = ([first, ...rest]: readonly Part[]): Part[] =>
  first ? [{ ...first, start: first.start + NOTES.length }, ...rest] : [];

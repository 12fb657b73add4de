import { useEffect, useMemo, useRef, useState } from "react";
import type { Mark } from "../api/types";
import { CodePoints } from "../text/codepoints";
import { type Part, partsOf, type Range } from "../text/parts";
import { words } from "../words/words";
import { Pieces } from "./Pieces";
import { TableView } from "./TableView";

interface Props {
  text: string;
  marks: readonly Mark[];
  /** Spans in code points; the first one was opened, the others are other citations of this document. */
  spans: readonly Range[];
  /** Whether inline Markdown is shown as it looks. */
  isMarkdown?: boolean;
}

const AROUND = 12_000;
const MORE = 40_000;

/** A document as text, scrolled to the cited words. A long document shows only the text around them. */
export function DocumentText({ text, marks, spans, isMarkdown = false }: Props) {
  const points = useMemo(() => new CodePoints(text), [text]);
  const parts = useMemo(() => partsOf(points, marks), [points, marks]);
  const ranges = useMemo(
    () => spans.map((one) => ({ start: points.unit(one.start), end: points.unit(one.end) })),
    [points, spans],
  );
  const main = ranges[0] ?? { start: 0, end: 0 };
  const [more, setMore] = useState({ before: AROUND, after: AROUND });
  const body = useRef<HTMLDivElement>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new span needs a new scroll position
  useEffect(() => {
    body.current?.querySelector("mark")?.scrollIntoView({ block: "center" });
  }, [main.start, main.end, text]);

  const shown = parts.filter((part) => part.end >= main.start - more.before && part.start <= main.end + more.after);
  const first = shown[0];
  const last = shown.at(-1);
  return (
    <div ref={body} className="document">
      {first && first !== parts[0] && (
        <button type="button" className="button small" onClick={() => setMore({ ...more, before: more.before + MORE })}>
          {words().earlier}
        </button>
      )}
      {shown.map((part) => (
        <PartView key={`${part.kind}${part.start}`} text={text} part={part} ranges={ranges} isMarkdown={isMarkdown} />
      ))}
      {last && last !== parts.at(-1) && (
        <button type="button" className="button small" onClick={() => setMore({ ...more, after: more.after + MORE })}>
          {words().later}
        </button>
      )}
    </div>
  );
}

interface PartProps {
  text: string;
  part: Part;
  ranges: readonly Range[];
  around?: number | undefined;
  isMarkdown?: boolean | undefined;
}

/** A part of a document with its cited words marked. */
export function PartView({ text, part, ranges, around, isMarkdown }: PartProps) {
  if (part.kind === "page") return part.label && <p className="page-label">{words().page(part.label)}</p>;
  if (part.kind === "table") return <TableView text={text} part={part} ranges={ranges} around={around} />;
  const pieces = <Pieces text={text} part={part} ranges={ranges} isMarkdown={isMarkdown} />;
  if (part.kind === "code") return <pre className="code">{pieces}</pre>;
  if (part.kind === "heading") return <p className={`heading level-${Math.min(part.level, 4)}`}>{pieces}</p>;
  return <p>{pieces}</p>;
}

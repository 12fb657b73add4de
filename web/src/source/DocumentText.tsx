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
}

const AROUND = 12_000;
const MORE = 40_000;

/** A document as plain text, scrolled to the cited words. A long document shows only the text around them. */
export function DocumentText({ text, marks, spans }: Props) {
  const points = useMemo(() => new CodePoints(text), [text]);
  const parts = useMemo(() => partsOf(points, marks), [points, marks]);
  const ranges = useMemo(
    () => spans.map((one) => ({ start: points.unit(one.start), end: points.unit(one.end) })),
    [points, spans],
  );
  const main = ranges[0] ?? { start: 0, end: 0 };
  const [more, setMore] = useState({ before: AROUND, after: AROUND });
  const cited = useRef<HTMLElement>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new span needs a new scroll position
  useEffect(() => {
    cited.current?.scrollIntoView({ block: "center" });
  }, [main.start, main.end, text]);

  const shown = parts.filter((part) => part.end >= main.start - more.before && part.start <= main.end + more.after);
  const first = shown[0];
  const last = shown.at(-1);
  return (
    <div className="document">
      {first && first !== parts[0] && (
        <button type="button" className="button small" onClick={() => setMore({ ...more, before: more.before + MORE })}>
          {words().earlier}
        </button>
      )}
      {shown.map((part) => (
        <PartView key={`${part.kind}${part.start}`} text={text} part={part} ranges={ranges} cited={cited} />
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
  cited: React.RefObject<HTMLElement | null>;
  around?: number | undefined;
}

/** A part of a document with its cited words marked. */
export function PartView({ text, part, ranges, cited, around }: PartProps) {
  if (part.kind === "page") return part.label && <p className="page-label">{words().page(part.label)}</p>;
  if (part.kind === "table") return <TableView text={text} part={part} ranges={ranges} cited={cited} around={around} />;
  const pieces = <Pieces text={text} part={part} ranges={ranges} cited={cited} />;
  if (part.kind === "code") return <pre className="code">{pieces}</pre>;
  if (part.kind === "heading") return <p className={`heading level-${Math.min(part.level, 4)}`}>{pieces}</p>;
  return <p>{pieces}</p>;
}

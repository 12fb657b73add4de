import { useEffect, useMemo, useRef, useState } from "react";
import type { Mark } from "../api/types";
import { CodePoints } from "../text/codepoints";
import { type Lit, lit, type Part, partsOf, type Range } from "../text/parts";

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
          Show earlier text
        </button>
      )}
      {shown.map((part) => (
        <PartView
          key={`${part.kind}${part.start}`}
          part={part}
          pieces={lit(text, part, ranges)}
          main={main}
          cited={cited}
        />
      ))}
      {last && last !== parts.at(-1) && (
        <button type="button" className="button small" onClick={() => setMore({ ...more, after: more.after + MORE })}>
          Show later text
        </button>
      )}
    </div>
  );
}

interface PartProps {
  part: Part;
  pieces: readonly Lit[];
  main: Range;
  cited: React.RefObject<HTMLElement | null>;
}

function PartView({ part, pieces, main, cited }: PartProps) {
  if (part.kind === "page") return part.label && <p className="page-label">Page {part.label}</p>;
  const begins = part.start <= main.start && main.start < part.end;
  const words = pieces.map((piece, at) => {
    if (piece.range === null) return piece.text;
    if (piece.range > 0) {
      return (
        <span key={at} className="also-cited">
          {piece.text}
        </span>
      );
    }
    const first = begins && pieces.findIndex((one) => one.range === 0) === at;
    return (
      <mark key={at} ref={first ? cited : null}>
        {piece.text}
      </mark>
    );
  });
  if (part.kind === "code" || part.kind === "table") return <pre className={part.kind}>{words}</pre>;
  if (part.kind === "heading") return <p className={`heading level-${Math.min(part.level, 4)}`}>{words}</p>;
  return <p>{words}</p>;
}

import { lit, type Part, type Range } from "../text/parts";

interface Props {
  text: string;
  part: Part;
  /** The first range was opened, the others are cited too. */
  ranges: readonly Range[];
  /** Is given the beginning of the first range. */
  cited: React.RefObject<HTMLElement | null>;
}

/** The words of a part of a document, with those marked that are cited. */
export function Pieces({ text, part, ranges, cited }: Props) {
  const pieces = lit(text, part, ranges);
  const main = ranges[0] ?? { start: 0, end: 0 };
  const begins = part.start <= main.start && main.start < part.end;
  return pieces.map((piece, at) => {
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
}

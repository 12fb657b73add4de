import { useMemo } from "react";
import { Looking } from "../shell/Looking";
import { blocksOf } from "../text/markdown";
import { type Passage, type Proved, passagesOf } from "../text/proof";
import { words as say } from "../words/words";

interface Props {
  text: string;
  proofs: readonly Proved[];
  /** The markers of the citations that can be opened. */
  known: ReadonlySet<number>;
  current: number | null;
  onOpen: (marker: number) => void;
}

/** An answer as plain text, each sentence with its citations or a note that it has none. */
export function AnswerText({ text, proofs, known, current, onOpen }: Props) {
  const blocks = useMemo(() => blocksOf(text), [text]);
  const passages = useMemo(() => passagesOf(text, blocks, proofs), [text, blocks, proofs]);
  const shown = (item: readonly Passage[]) =>
    item.map((passage, at) => (
      <Sentence
        key={at}
        passage={passage}
        proved={passage.sentence === null ? null : (proofs[passage.sentence] ?? null)}
        known={known}
        current={current}
        onOpen={onOpen}
      />
    ));

  return (
    <div className="prose">
      {blocks.map((block, at) => {
        const items = passages[at] ?? [];
        if (block.kind === "list" || block.kind === "numbers") {
          const rows = items.map((item, n) => (
            <li key={n} className={`depth-${block.items[n]?.depth ?? 0}`}>
              {shown(item)}
            </li>
          ));
          return block.kind === "list" ? (
            <ul key={at}>{rows}</ul>
          ) : (
            <ol key={at} start={block.first}>
              {rows}
            </ol>
          );
        }
        const inside = shown(items[0] ?? []);
        if (block.kind === "code") return <pre key={at}>{inside}</pre>;
        return block.kind === "heading" ? <h3 key={at}>{inside}</h3> : <p key={at}>{inside}</p>;
      })}
    </div>
  );
}

interface SentenceProps extends Pick<Props, "known" | "current" | "onOpen"> {
  passage: Passage;
  proved: Proved | null;
}

function Sentence({ passage, proved, known, current, onOpen }: SentenceProps) {
  const words = passage.pieces.map((piece, at) => <Looking key={at} {...piece} />);
  if (!proved) return words;
  const lit = current !== null && proved.markers.includes(current);
  return (
    <>
      <span className={`sentence${proved.wrong ? " unproved" : ""}${lit ? " lit" : ""}`}>{words}</span>
      {passage.closed && (
        <>
          {proved.markers
            .filter((marker) => known.has(marker))
            .map((marker) => (
              <button
                key={marker}
                type="button"
                className="marker"
                aria-label={say().citation(marker)}
                aria-pressed={current === marker}
                onClick={() => onOpen(marker)}
              >
                {marker}
              </button>
            ))}
          {proved.wrong && (
            <span className="marker-unproved" title={proved.wrong === "?" ? say().notSaid : proved.wrong}>
              {say().notSupported}
            </span>
          )}
        </>
      )}
    </>
  );
}

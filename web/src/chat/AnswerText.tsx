import { Fragment, type ReactNode, useId, useMemo, useState } from "react";
import { Looking } from "../shell/Looking";
import { type Block, blocksOf, type Words } from "../text/markdown";
import { type Flag, type Passage, type Proved, passagesOf } from "../text/proof";
import { words as say } from "../words/words";

interface Props {
  /** The class of the text. */
  look: string;
  text: string;
  proofs: readonly Proved[];
  /** The markers of the citations that can be opened. */
  known: ReadonlySet<number>;
  current: number | null;
  onOpen: (marker: number) => void;
}

/** An answer in its Markdown, each sentence with its citations, or a note that the documents contradict or lack it. */
export function AnswerText({ look, text, proofs, known, current, onOpen }: Props) {
  const blocks = useMemo(() => blocksOf(text), [text]);
  const passages = useMemo(() => passagesOf(text, blocks, proofs), [text, blocks, proofs]);
  const marks = (passage: Passage) => {
    const proved = passage.closed && passage.sentence !== null && proofs[passage.sentence];
    return proved && <Marks proved={proved} known={known} current={current} onOpen={onOpen} />;
  };
  const parts = {
    of: (words: Words) => passages.get(words) ?? [],
    sentence: (passage: Passage) => {
      const proved = passage.sentence === null ? undefined : proofs[passage.sentence];
      return <Sentence passage={passage} proved={proved} current={current} />;
    },
    marks,
  };
  return (
    <div className={look}>
      <Blocks blocks={blocks} parts={parts} />
    </div>
  );
}

/** How the passages of an answer are shown. */
interface Parts {
  of: (words: Words) => readonly Passage[];
  sentence: (passage: Passage) => ReactNode;
  marks: (passage: Passage) => ReactNode;
}

function Blocks({ blocks, parts }: { blocks: readonly Block[]; parts: Parts }) {
  return blocks.map((block, at) => <BlockView key={at} block={block} parts={parts} />);
}

function BlockView({ block, parts }: { block: Block; parts: Parts }) {
  switch (block.kind) {
    case "rule":
      return <hr />;
    case "quote":
      return (
        <blockquote>
          <Blocks blocks={block.blocks} parts={parts} />
        </blockquote>
      );
    case "list": {
      const items = block.items.map((item, at) => (
        <li key={at}>
          <Blocks blocks={item} parts={parts} />
        </li>
      ));
      return block.first === null ? <ul>{items}</ul> : <ol start={block.first}>{items}</ol>;
    }
    case "table":
      return <Grid table={block} parts={parts} />;
    case "code": {
      const passages = parts.of(block.words);
      return (
        <div>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with the keyboard */}
          <pre tabIndex={0}>
            {passages.map((one, at) => (
              <Fragment key={at}>{parts.sentence(one)}</Fragment>
            ))}
          </pre>
          {passages.map((one, at) => (
            <Fragment key={at}>{parts.marks(one)}</Fragment>
          ))}
        </div>
      );
    }
    default: {
      const Tag = block.kind === "heading" ? "h3" : "p";
      const inside = parts.of(block.words);
      return (
        inside.length > 0 && (
          <Tag>
            <Line passages={inside} parts={parts} />
          </Tag>
        )
      );
    }
  }
}

function Grid({ table, parts }: { table: Block & { kind: "table" }; parts: Parts }) {
  const { head, rows, right } = table;
  const line = (words: Words) => <Line passages={parts.of(words)} parts={parts} />;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with the keyboard
    // biome-ignore lint/a11y/useSemanticElements: a section would be a landmark, and there may be several tables
    <div className="grid" role="group" aria-label={say().table} tabIndex={0}>
      <table>
        {head.length > 0 && (
          <thead>
            <tr>
              {head.map((cell, at) => (
                <th key={at} scope="col" className={right[at] ? "right" : undefined}>
                  {line(cell)}
                </th>
              ))}
            </tr>
          </thead>
        )}
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, column) => (
                <td key={column} className={right[column] ? "right" : undefined}>
                  {line(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Line({ passages, parts }: { passages: readonly Passage[]; parts: Parts }) {
  return passages.map((one, at) => (
    <Fragment key={at}>
      {parts.sentence(one)}
      {parts.marks(one)}
    </Fragment>
  ));
}

interface SentenceProps {
  passage: Passage;
  proved: Proved | undefined;
  current: number | null;
}

function Sentence({ passage, proved, current }: SentenceProps) {
  const words = passage.pieces.map((piece, at) => <Looking key={at} {...piece} />);
  if (!proved) return words;
  const lit = current !== null && proved.markers.includes(current);
  return <span className={`sentence${proved.flag ? ` ${proved.flag.state}` : ""}${lit ? " lit" : ""}`}>{words}</span>;
}

function Marks({ proved, known, current, onOpen }: { proved: Proved } & Pick<Props, "known" | "current" | "onOpen">) {
  return (
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
      {proved.flag && <Flagged flag={proved.flag} />}
    </>
  );
}

/** The mark of a flagged sentence. The reason appears while the pointer or the focus is on it, until Escape. */
function Flagged({ flag }: { flag: Flag }) {
  const id = useId();
  const [hidden, setHidden] = useState(false);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button inside is what can be operated
    <span className="flagged" onMouseEnter={() => setHidden(false)}>
      <button
        type="button"
        className={`flag ${flag.state}`}
        aria-describedby={id}
        onFocus={() => setHidden(false)}
        onKeyDown={(event) => {
          if (event.key !== "Escape" || hidden) return;
          event.preventDefault(); // or it would stop the answer
          setHidden(true);
        }}
      >
        {say().flags[flag.state]}
      </button>
      <span role="tooltip" id={id} className="reason" hidden={hidden}>
        {flag.reason || say().flags[flag.state]}
      </span>
    </span>
  );
}

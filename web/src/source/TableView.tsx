import { useMemo, useState } from "react";
import type { Part, Range } from "../text/parts";
import { type Row, rowsOf } from "../text/table";
import { words } from "../words/words";
import { Pieces } from "./Pieces";

interface Props {
  text: string;
  part: Part;
  ranges: readonly Range[];
  /** Rows to show before and after the cited ones at first. */
  around?: number | undefined;
}

const NOWHERE = { start: 0, end: 0 };
const FIGURE = /^[\s($€£+\-–−]*[\d.,]+[\s%)a-z]*$/i;

const AROUND = 30;
const MORE = 200;

/** A table of a document as a table, with the cited cells marked. A long one shows only the rows around them. */
export function TableView({ text, part, ranges, around = AROUND }: Props) {
  const [more, setMore] = useState({ before: around, after: around });
  const near = ranges[0] ?? NOWHERE;
  const { rows, earlier, later } = useMemo(
    () => rowsOf(text, part, part.header, { near, ...more }),
    [text, part, near, more],
  );
  const width = Math.max(...rows.map((row) => row.cells.length), 1);
  const inside = (cell: Range) => <Pieces text={text} part={{ ...part, kind: "code", ...cell }} ranges={ranges} />;
  const within = (cell: Range) => ranges[0] && cell.start < ranges[0].end && ranges[0].start < cell.end;
  const look = (cell: Range) =>
    [within(cell) ? "cited" : "", FIGURE.test(text.slice(cell.start, cell.end)) ? "figure" : ""].join(" ").trim();
  const body = (row: Row) =>
    row.kind === "section" ? (
      <th colSpan={width} scope="colgroup" className="section">
        {row.cells.map(inside)}
      </th>
    ) : (
      row.cells.map((cell, at) =>
        at === 0 && row.cells.length > 1 && cell.end > cell.start ? (
          <th key={at} scope="row" className={look(cell)}>
            {inside(cell)}
          </th>
        ) : (
          <td key={at} className={look(cell)}>
            {inside(cell)}
          </td>
        ),
      )
    );
  const table = (
    // biome-ignore lint/a11y/useSemanticElements: a document has many, and landmarks have to differ
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <div className="table" role="group" tabIndex={0} aria-label={part.label || words().table}>
      <table>
        {rows.some((row) => row.kind === "header") && (
          <thead>
            {rows
              .filter((row) => row.kind === "header")
              .map((row, number) => (
                <tr key={number}>
                  {row.cells.map((cell, at) =>
                    cell.end > cell.start ? (
                      <th key={at} scope="col" className={look(cell)}>
                        {inside(cell)}
                      </th>
                    ) : (
                      <td key={at} />
                    ),
                  )}
                </tr>
              ))}
          </thead>
        )}
        <tbody>
          {rows
            .filter((row) => row.kind !== "header")
            .map((row, number) => (
              <tr key={number}>{body(row)}</tr>
            ))}
        </tbody>
      </table>
    </div>
  );
  const wider = (label: string, next: typeof more) => (
    <button type="button" className="button small" onClick={() => setMore(next)}>
      {label}
    </button>
  );
  return (
    <>
      {earlier > 0 && wider(words().earlierRows, { ...more, before: more.before + MORE })}
      {table}
      {later > 0 && wider(words().laterRows, { ...more, after: more.after + MORE })}
    </>
  );
}

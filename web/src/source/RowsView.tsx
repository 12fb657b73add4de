import { useEffect, useRef, useState } from "react";
import { api } from "../api/client";
import { isAbort, told } from "../api/errors";
import type { TableRows } from "../api/types";
import { Icon } from "../shell/Icon";
import { CodePoints } from "../text/codepoints";
import { words } from "../words/words";

interface Props {
  id: string;
  name: string;
  start: number;
  end: number;
}

/** A row of a table in its table: the headings, some rows around it, and the cited words marked. */
export function RowsView({ id, name, start, end }: Props) {
  const [table, setTable] = useState<TableRows | null>(null);
  const [error, setError] = useState("");
  const cited = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    const stopper = new AbortController();
    setError("");
    api
      .rows(id, start, end, stopper.signal)
      .then(setTable)
      .catch((failed) => !isAbort(failed) && !stopper.signal.aborted && setError(told(failed)));
    return () => stopper.abort();
  }, [id, start, end]);
  useEffect(() => {
    const mark = cited.current?.querySelector("mark") ?? cited.current;
    if (table) mark?.scrollIntoView({ block: "center", inline: "center" });
  }, [table]);
  const say = words();
  return (
    <div className="paper-frame">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section className="paper-body" tabIndex={0} aria-label={say.original} aria-busy={!table && !error}>
        {error && (
          <p className="notice warn" role="alert">
            <Icon name="warn" /> <span>{error}</span>
          </p>
        )}
        {!table && !error && <p className="quiet">{say.loading}</p>}
        {table && (
          <div className="document leaf sheet">
            <table aria-label={name}>
              <thead>
                <tr>
                  {table.columns.map((column, at) => (
                    <th key={at} scope="col">
                      {column}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {table.rows.map((row, number) => (
                  <tr key={number} ref={number === table.at ? cited : null} className={look(number === table.at)}>
                    {row.map((cell, column) => (
                      <td key={column} className={look(number === table.at && isCited(table, column))}>
                        {number === table.at ? <Cell table={table} text={cell} column={column} /> : cell}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </section>
    </div>
  );
}

const look = (cited: boolean) => (cited ? "cited" : undefined);
const isCited = (table: TableRows, column: number) => table.cited.some((one) => one.column === column);

/** A cell of the cited row. Places count code points, as the server does. */
function Cell({ table, text, column }: { table: TableRows; text: string; column: number }) {
  const marked = table.cited.find((one) => one.column === column);
  if (!marked) return text;
  const points = new CodePoints(text);
  return (
    <>
      {points.slice(0, marked.start)}
      <mark>{points.slice(marked.start, marked.end)}</mark>
      {points.slice(marked.end, points.length)}
    </>
  );
}

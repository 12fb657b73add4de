import { useState } from "react";
import { Icon } from "../shell/Icon";
import { plainOf } from "../text/markdown";
import { words } from "../words/words";
import { csvOf, saved } from "./exporting";
import type { Target } from "./target";
import type { Turn } from "./turns";

/** Rows that are shown at first. */
const FEW = 50;

interface Props {
  turn: Turn;
  targets: readonly Target[];
  opened: number | null;
  onOpen: (at: number) => void;
}

/** Whether a turn is a list of all documents that fit. */
export const isList = ({ answer }: Turn): boolean => answer?.retrieval_method === "list" && answer.citations.length > 0;

/** Whether a turn is a table that compares things. */
export const isComparison = ({ answer }: Turn): boolean => answer?.retrieval_method === "comparison";

/** A button that saves a table under a title. */
export function SaveCsv({ title, csv }: { title: string; csv: () => string }) {
  return (
    <button type="button" className="button small" onClick={() => saved(title, "csv", csv())}>
      <Icon name="download" /> {words().saveCsv}
    </button>
  );
}

/** The documents of a list: each with the words for which it is listed. */
export function DocumentTable({ turn, targets, opened, onOpen }: Props) {
  const [all, setAll] = useState(false);
  const say = words();
  const dates = new Map(turn.listed?.items.map((one) => [one.document_id, one.date]));
  const dated = [...dates.values()].some(Boolean);
  const shown = all ? targets : targets.slice(0, FEW);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with the keyboard */}
      <section className="grid documents" aria-label={say.documents} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">{say.document}</th>
              {dated && <th scope="col">{say.date}</th>}
              <th scope="col">{say.citedWords}</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((one, at) => (
              <tr key={one.marker} className={opened === at ? "lit" : ""}>
                <th scope="row">{one.title}</th>
                {dated && <td className="date">{dates.get(one.documentId)?.slice(0, 10)}</td>}
                <td>
                  {plainOf(one.quote)}
                  <button
                    type="button"
                    className="marker"
                    aria-label={say.citation(one.marker ?? at + 1)}
                    aria-pressed={opened === at}
                    onClick={() => onOpen(at)}
                  >
                    {one.marker}
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <div className="actions">
        {shown.length < targets.length && (
          <button type="button" className="button small" onClick={() => setAll(true)}>
            {say.showMore}
          </button>
        )}
        <SaveCsv title={turn.question} csv={() => csvOf(targets, dates)} />
      </div>
    </>
  );
}

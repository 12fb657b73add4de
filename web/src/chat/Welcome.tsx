import { useEffect, useState } from "react";
import { api } from "../api/client";
import type { Listing } from "../api/types";
import { counted } from "../shell/time";

interface Props {
  onAsk: (question: string) => void;
  canWrite: boolean;
}

/** The beginning: what there is to be asked, or how something gets in. */
export function Welcome({ onAsk, canWrite }: Props) {
  const [listing, setListing] = useState<Listing | null>(null);
  useEffect(() => {
    const stopper = new AbortController();
    api
      .documents("", undefined, 100, stopper.signal)
      .then(setListing)
      .catch(() => undefined); // it is said where the first question fails
    return () => stopper.abort();
  }, []);

  if (listing?.total === 0) {
    return (
      <div className="welcome">
        <h1>Nothing to ask yet</h1>
        <p>
          {canWrite ? (
            <>
              Drop files anywhere on this page, or <a href="#/sources">add sources</a>. Then ask: the answer shows the
              exact words it rests on.
            </>
          ) : (
            "There are no documents that you may read."
          )}
        </p>
      </div>
    );
  }
  const questions = (listing?.documents ?? []).map((one) => one.title).filter((title) => title.endsWith("?"));
  return (
    <div className="welcome">
      <h1>Ask your documents</h1>
      <p>
        Every sentence of an answer shows the exact words it rests on. Where the documents do not tell, the answer says
        so.
      </p>
      {questions.length > 0 && (
        <ul className="suggestions" aria-label="Questions to begin with">
          {spread(questions, 4).map((question) => (
            <li key={question}>
              <button type="button" className="suggestion" onClick={() => onAsk(question)}>
                {question}
              </button>
            </li>
          ))}
        </ul>
      )}
      {listing && (
        <p className="quiet small">
          {counted(listing.total, "document")} · <a href="#/sources">see them</a>
        </p>
      )}
    </div>
  );
}

/** Some of many, from all over. */
const spread = <T,>(all: readonly T[], count: number): T[] =>
  all.length <= count
    ? [...all]
    : Array.from({ length: count }, (_, n) => all[Math.floor((n * all.length) / count)] as T);

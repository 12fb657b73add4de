import { useEffect, useState } from "react";
import { api } from "../api/client";
import type { Listing } from "../api/types";
import { counted } from "../shell/time";

interface Props {
  onAsk: (question: string) => void;
  canWrite: boolean;
}

/** The start view: suggested questions, or how to add documents. */
export function Welcome({ onAsk, canWrite }: Props) {
  const [listing, setListing] = useState<Listing | null>(null);
  useEffect(() => {
    const stopper = new AbortController();
    api
      .documents("", undefined, 100, stopper.signal)
      .then(setListing)
      .catch(() => undefined); // the first question reports it
    return () => stopper.abort();
  }, []);

  if (listing?.total === 0) {
    return (
      <div className="welcome">
        <h1>No documents yet</h1>
        <p>
          {canWrite ? (
            <>
              Drop files anywhere on this page, or <a href="#/sources">add sources</a>. Then ask a question: the answer
              shows the exact words it rests on.
            </>
          ) : (
            "There are no documents for you to read."
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
        Every sentence of an answer shows the exact words it rests on. If the documents have no answer, you are told so.
      </p>
      {questions.length > 0 && (
        <ul className="suggestions" aria-label="Suggested questions">
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
          {counted(listing.total, "document")} · <a href="#/sources">view all</a>
        </p>
      )}
    </div>
  );
}

/** Return a few items, evenly spaced. */
const spread = <T,>(all: readonly T[], count: number): T[] =>
  all.length <= count
    ? [...all]
    : Array.from({ length: count }, (_, n) => all[Math.floor((n * all.length) / count)] as T);

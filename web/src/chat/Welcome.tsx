import { useEffect, useState } from "react";
import { api } from "../api/client";
import type { Suggestion } from "../api/types";
import { words } from "../words/words";
import { ModelInvitation } from "./ModelInvitation";
import { useSuggestions } from "./useSuggestions";

const MOST = 4;

interface Props {
  onAsk: (suggestion: Suggestion) => void;
  canWrite: boolean;
  /** Whether the reader could connect a language model, and there is none. */
  canConnect: boolean;
}

/** The start view: suggested questions, or how to add documents. */
export function Welcome({ onAsk, canWrite, canConnect }: Props) {
  const [total, setTotal] = useState<number | null>(null);
  useEffect(() => {
    const stopper = new AbortController();
    api
      .documents({ limit: 1 }, stopper.signal)
      .then((listing) => setTotal(listing.total))
      .catch(() => undefined); // the first question reports it
    return () => stopper.abort();
  }, []);
  const questions = useSuggestions(MOST);

  const say = words();
  if (total === 0) {
    return (
      <div className="welcome">
        <h1>{say.noDocumentsYet}</h1>
        <p>
          {canWrite ? (
            <>
              {say.dropOr} <a href="#/sources">{say.addSources}</a>. {say.thenAsk}
            </>
          ) : (
            say.nothingToRead
          )}
        </p>
      </div>
    );
  }
  return (
    <div className="welcome">
      <h1>{say.askYourDocuments}</h1>
      <p>{say.promise}</p>
      <p className="quiet small count">
        {total !== null && (
          <>
            {say.documentCount(total)} · <a href="#/sources">{say.viewAll}</a>
          </>
        )}
      </p>
      {canConnect && <ModelInvitation />}
      {questions.length > 0 && (
        <ul className="suggestions" aria-label={say.suggestions}>
          {questions.map((one) => (
            <li key={one.question}>
              <button type="button" className="suggestion" onClick={() => onAsk(one)}>
                {one.question}
                {one.title && one.title !== one.question && <small className="quiet">{one.title}</small>}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

import { useEffect, useState } from "react";
import { api } from "../api/client";
import type { Collection, Suggestion } from "../api/types";
import { words } from "../words/words";
import { ModelInvitation } from "./ModelInvitation";
import { useSuggestions } from "./useSuggestions";

const MOST = 4;

interface Props {
  /** The chosen collection, if any. */
  collection: Collection | null;
  onAsk: (suggestion: Suggestion) => void;
  canWrite: boolean;
  /** Whether the reader could connect a language model, and there is none. */
  canConnect: boolean;
}

/** The start view: suggested questions, or how to add documents. */
export function Welcome({ collection, onAsk, canWrite, canConnect }: Props) {
  const [total, setTotal] = useState<number | null>(null);
  const where = collection?.where ?? "";
  useEffect(() => {
    const stopper = new AbortController();
    api
      .documents({ limit: 1, where }, stopper.signal)
      .then((listing) => setTotal(listing.total))
      .catch(() => undefined); // the first question reports it
    return () => stopper.abort();
  }, [where]);
  const found = useSuggestions(MOST, { where });
  const own = collection?.questions.map((question) => ({ question, document_id: "", title: collection.name })) ?? [];
  const questions = own.length ? own : found;

  const say = words();
  if (total === 0 && !collection) {
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
      <h1>{collection?.name ?? say.askYourDocuments}</h1>
      <p>{say.promise}</p>
      <p className="quiet small count">
        {total !== null && (
          <>
            {say.documentCount(total)}
            {!collection && (
              <>
                {" "}
                · <a href="#/sources">{say.viewAll}</a>
              </>
            )}
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

import { useEffect, useState } from "react";
import { api } from "../api/client";
import type { Listed, Listing } from "../api/types";
import { words } from "../words/words";

const MOST = 4;
const LONGEST_TITLE = 60;

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
      .documents({ limit: 100 }, stopper.signal)
      .then(setListing)
      .catch(() => undefined); // the first question reports it
    return () => stopper.abort();
  }, []);

  const say = words();
  if (listing?.total === 0) {
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
  const questions = questionsOf(listing?.documents ?? []);
  return (
    <div className="welcome">
      <h1>{say.askYourDocuments}</h1>
      <p>{say.promise}</p>
      {questions.length > 0 && (
        <ul className="suggestions" aria-label={say.suggestions}>
          {questions.map((question) => (
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
          {say.documentCount(listing.total)} · <a href="#/sources">{say.viewAll}</a>
        </p>
      )}
    </div>
  );
}

/** Return first questions: titles that are questions, or else what documents are about. */
function questionsOf(documents: readonly Listed[]): string[] {
  const titles = [...new Set(documents.map((one) => one.title).filter((title) => /\p{L}{3}/u.test(title)))];
  const asked = spread(
    titles.filter((title) => title.endsWith("?")),
    MOST,
  );
  const others = titles.filter((title) => !title.endsWith("?") && title.length <= LONGEST_TITLE);
  return [...asked, ...spread(others, MOST - asked.length).map((title) => words().whatIsAbout(title))];
}

/** Return a few items, evenly spaced. */
const spread = <T,>(all: readonly T[], count: number): T[] =>
  all.length <= count
    ? [...all]
    : Array.from({ length: count }, (_, n) => all[Math.floor((n * all.length) / count)] as T);

import { useEffect, useState } from "react";
import { api } from "../api/client";
import { told } from "../api/errors";
import type { SharedAnswer } from "../api/types";
import { Icon } from "../shell/Icon";
import { words } from "../words/words";
import { TurnView } from "./TurnView";
import type { Target } from "./target";
import { fresh, type Turn } from "./turns";

interface Props {
  secret: string;
  opened: { turn: string; at: number } | null;
  onOpen: (turn: string, targets: Target[], at: number) => void;
  /** Go on in a copy of one's own. */
  onCopied: (session: string) => void;
}

/** A conversation that somebody shared, as far as its reader may read what the answers rest on. */
export function SharedView({ secret, opened, onOpen, onCopied }: Props) {
  const [answers, setAnswers] = useState<readonly SharedAnswer[] | null>(null);
  const [error, setError] = useState("");
  const say = words();
  useEffect(() => {
    setAnswers(null);
    setError("");
    let current = true;
    api
      .shared(secret)
      .then((found) => current && setAnswers(found))
      .catch((bad) => current && setError(told(bad)));
    return () => {
      current = false;
    };
  }, [secret]);
  const copy = () => {
    setError("");
    api
      .copyShared(secret)
      .then(onCopied)
      .catch((bad) => setError(told(bad)));
  };
  return (
    <div className="scroll">
      <div className="shared-head">
        <h1>{say.sharedConversation}</h1>
        <p className="quiet small">{say.sharedHint}</p>
        {error && (
          <p className="notice warn" role="alert">
            <Icon name="warn" /> <span>{error}</span>
          </p>
        )}
        {answers?.some((one) => one.text !== null) && (
          <button type="button" className="button" onClick={copy}>
            {say.goOn}
          </button>
        )}
      </div>
      {!answers && !error && <p className="quiet pad">{say.loading}</p>}
      <ol className="turns">
        {answers?.map((one, number) => {
          const id = `${secret}/${number}`;
          return (
            <li key={id}>
              {one.text === null ? (
                <article className="turn">
                  <h2 className="question">{one.question}</h2>
                  <p className="notice">
                    <Icon name="info" /> <span>{say.withheld}</span>
                  </p>
                </article>
              ) : (
                <TurnView
                  turn={turnOf(id, one)}
                  opened={opened?.turn === id ? opened.at : null}
                  onOpen={(targets, at) => onOpen(id, targets, at)}
                />
              )}
            </li>
          );
        })}
      </ol>
    </div>
  );
}

const turnOf = (id: string, one: SharedAnswer): Turn => ({
  ...fresh(id, one.question),
  state: "done",
  text: one.text ?? "",
  answer: one.answer,
});

import type { Suggestion } from "../api/types";
import { words } from "../words/words";
import { isOutside, ofCitation } from "./target";
import type { Turn } from "./turns";
import { useSuggestions } from "./useSuggestions";

/** Questions shown, and fetched: some may have been asked in this conversation. */
const SHOWN = 3;

interface Props {
  turn: Turn;
  /** Questions of this conversation, which are not suggested again. */
  asked: readonly string[];
  onAsk: (suggestion: Suggestion) => void;
}

/** What else the first cited document answers, near the cited words. */
export function FollowUps({ turn, asked, onAsk }: Props) {
  const first = turn.answer?.outcome === "answer" ? turn.answer.citations[0] : undefined;
  const target = first && ofCitation(first, []);
  return target && !isOutside(target) ? <Near key={turn.id} {...{ target, asked, onAsk }} /> : null;
}

function Near({ target, asked, onAsk }: Omit<Props, "turn"> & { target: { documentId: string; start: number } }) {
  const found = useSuggestions(SHOWN + 2, target);
  const before = new Set(asked.map((one) => one.toLowerCase()));
  const near = found.filter((one) => !before.has(one.question.toLowerCase())).slice(0, SHOWN);
  if (!near.length) return null;
  return (
    <div className="follow-ups">
      <p className="quiet small">{words().moreInDocument}</p>
      <ul aria-label={words().moreInDocument}>
        {near.map((one) => (
          <li key={one.question}>
            <button type="button" className="button small" onClick={() => onAsk(one)}>
              {one.question}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

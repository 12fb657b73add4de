import { useOriginal } from "../source/useOriginal";
import { words } from "../words/words";
import { ofCitation } from "./target";
import type { Turn } from "./turns";

interface Props {
  turn: Turn;
  /** Questions of this conversation, which are not suggested again. */
  asked: readonly string[];
  onAsk: (question: string) => void;
}

/** What else the cited document has near the cited words: its headings, as questions. */
export function FollowUps({ turn, asked, onAsk }: Props) {
  const first = turn.answer?.outcome === "answer" ? turn.answer.citations[0] : undefined;
  const target = first && ofCitation(first, []);
  const stored = target && !target.isWeb ? target : null;
  const { original } = useOriginal(stored?.documentId ?? null, stored?.start ?? 0, stored?.end ?? 0);
  const before = new Set(asked.map((one) => one.toLowerCase()));
  const near = (original?.near ?? []).filter((one) => !before.has(one.toLowerCase())).slice(0, 3);
  if (!near.length) return null;
  return (
    <div className="follow-ups">
      <p className="quiet small">{words().moreInDocument}</p>
      <ul aria-label={words().moreInDocument}>
        {near.map((one) => (
          <li key={one}>
            <button type="button" className="button small" onClick={() => onAsk(one)}>
              {one}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

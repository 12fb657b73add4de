import { Icon } from "../shell/Icon";
import { words } from "../words/words";
import type { Turn } from "./turns";

/** Notes on how the answer came about; failures come first. */
export function Notices({ turn }: { turn: Turn }) {
  const missing = turn.evidence?.missing ?? [];
  const told = turn.answer?.notices ?? turn.evidence?.notices ?? [];
  const all = [...new Set([...missing, ...told])];
  if (!all.length) return null;
  return (
    <ul className="notices" aria-label={words().notes}>
      {all.map((text) => (
        <li key={text} className={missing.includes(text) ? "warn" : ""}>
          <Icon name={missing.includes(text) ? "warn" : "info"} />
          <span>{text}</span>
        </li>
      ))}
    </ul>
  );
}

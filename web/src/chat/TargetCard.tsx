import { safeLink } from "../text/links";
import { plainOf } from "../text/markdown";
import { words } from "../words/words";
import { originOf } from "./origin";
import type { Target } from "./target";

interface Props {
  target: Target;
  current: boolean;
  onOpen: () => void;
}

/** A citation or a close passage: its words and its place. Opens it next to the answer. */
export function TargetCard({ target, current, onOpen }: Props) {
  const place = originOf(target);
  const link = safeLink(target.url);
  const where = [target.isAttached && words().attachedHere, place || link?.host].filter(Boolean).join(" · ");
  return (
    <button type="button" className="card" aria-pressed={current} onClick={onOpen}>
      <span className="card-title">
        {target.marker !== null && <span className="card-number">{target.marker}</span>}
        <span className="clip">{target.title}</span>
      </span>
      {where && <span className="card-place">{where}</span>}
      <span className="card-quote">{plainOf(target.quote)}</span>
    </button>
  );
}

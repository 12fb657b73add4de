import type { Citation } from "../api/types";
import { nearestOf } from "./nearest";
import { ofCitation, type Target } from "./target";
import type { Turn } from "./turns";

/** Return what an answer cites, or the closest passages; of a refusal, the passages it lists. */
export function targetsOf(turn: Turn): Target[] {
  const hits = turn.evidence?.hits ?? turn.answer?.hits ?? [];
  if (turn.answer?.outcome === "refusal") return nearestOf(turn.answer.answer, hits);
  const cited = turn.answer?.citations ?? distinct(turn.sentences.flatMap((one) => one.citations));
  return cited.map((one) => ofCitation(one, hits));
}

function distinct(citations: readonly Citation[]): Citation[] {
  return [...new Map(citations.map((one) => [one.marker, one])).values()].sort((a, b) => a.marker - b.marker);
}

import type { Citation } from "../api/types";
import { nearestOf } from "./nearest";
import { ofCitation, type Target } from "./target";
import type { Turn } from "./turns";

/** Return what an answer cites; of a refusal, also the closest passages that it lists, which have no markers. */
export function targetsOf(turn: Turn): Target[] {
  const hits = turn.evidence?.hits ?? turn.answer?.hits ?? [];
  const cited = turn.answer?.citations ?? distinct(turn.sentences.flatMap((one) => one.citations));
  const nearest = turn.answer?.outcome === "refusal" ? nearestOf(turn.answer.answer, hits) : [];
  return [...cited.map((one) => ofCitation(one, hits)), ...nearest];
}

function distinct(citations: readonly Citation[]): Citation[] {
  return [...new Map(citations.map((one) => [one.marker, one])).values()].sort((a, b) => a.marker - b.marker);
}

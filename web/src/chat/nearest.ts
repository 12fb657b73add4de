import type { Hit } from "../api/types";
import { ofHit, type Target } from "./target";

const SHOWN = 3;
/** The end of a shortened sentence, and a pattern for the rest of it in the document. */
const CUT = / …$/;
/** What may stand between two words of a document: a refusal leaves out the tags of HTML that was planted in a text. */
const GAP = "(?:\\s|<[^<>\\n]{0,200}>)+";
const REST = "[\\s\\S]{0,400}?(?:[.!?](?=\\s)|(?=\\n\\n)|$)";

/**
 * Return the passages that a refusal lists, each at its closest sentence. A line of the refusal is "- title: sentence".
 * If no line can be found among the hits, return the best hits.
 */
export function nearestOf(refusal: string, hits: readonly Hit[]): Target[] {
  const lines = refusal.split("\n").filter((line) => line.startsWith("- "));
  const found = lines.flatMap((line) => {
    for (const hit of hits) {
      const target = within(hit, line);
      if (target) return [target];
    }
    return [];
  });
  return found.length ? found : hits.slice(0, SHOWN).map(ofHit);
}

function within(hit: Hit, line: string): Target | null {
  const title = [hit.title, plain(hit.title), hit.document_id]
    .filter(Boolean)
    .map((one) => `- ${one}: `)
    .find((one) => line.startsWith(one));
  if (!title) return null;
  const said = line.slice(title.length);
  const words = said.replace(CUT, "").split(/\s+/);
  const pattern = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join(GAP);
  const place = new RegExp(CUT.test(said) ? pattern + REST : pattern).exec(hit.text);
  if (!place) return null;
  const start = hit.start + [...hit.text.slice(0, place.index)].length;
  return { ...ofHit(hit), start, end: start + [...place[0]].length, quote: place[0] };
}

const plain = (title: string): string =>
  title
    .replace(/<[^<>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();

import { locatedIn, type Proved, provedOf } from "../text/proof";
import type { Turn } from "./turns";

/** The parts of an answer that are shown apart. */
export interface Said {
  /** That the language model failed; empty if it did not. */
  failed: string;
  /** What it says: of a refusal, all before the closest passages. */
  words: string;
  /** The sentences of `words`. */
  proofs: readonly Proved[];
}

const PASSAGE = "- ";

/** Whether a turn ended without an answer, and lists the closest passages instead. */
export const refused = ({ answer }: Turn): boolean => answer?.outcome === "refusal";

/** The class of an answer's text: in passages that may answer, the likeliest sentences stand out. */
export const proseClass = ({ answer }: Turn): string => (answer?.outcome === "closest" ? "prose likely" : "prose");

/** Return what an answer says so far. `listed` says whether what a refusal or a list names is shown below it. */
export function saidOf({ text, answer, sentences }: Turn, listed: boolean): Said {
  if (!answer) return { failed: "", words: text, proofs: locatedIn(text, sentences) };
  const proofs = provedOf(text, answer.statements);
  const lead = answer.failed ? text.indexOf("\n\n") : -1;
  const start = lead < 0 ? 0 : lead + 2;
  const end = listed ? endOf(text, start, answer.outcome, proofs) : text.length;
  return {
    failed: text.slice(0, Math.max(0, lead)),
    words: text.slice(start, end).trimEnd(),
    proofs: proofs.filter((one) => one.whole <= end).map((one) => moved(one, -start)),
  };
}

/** Return where the passages of a refusal begin, with the line before them. */
function endOf(text: string, start: number, outcome: string, proofs: readonly Proved[]): number {
  if (outcome === "answer") return start + text.slice(start).search(/\n|$/); // a list: the line with their number
  if (outcome !== "refusal") return text.length;
  const own = proofs.at(-1);
  if (own) return own.whole;
  const lines = text.slice(start).split("\n");
  const first = lines.findIndex((line) => line.startsWith(PASSAGE));
  return first < 0 ? text.length : start + lines.slice(0, Math.max(0, first - 1)).join("\n").length;
}

const moved = (one: Proved, by: number): Proved => ({
  ...one,
  start: one.start + by,
  end: one.end + by,
  whole: one.whole + by,
});

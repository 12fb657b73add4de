import type { SentenceEvent, Statement } from "../api/types";
import type { SharedTexts } from "../words/types";
import { CodePoints } from "./codepoints";
import { type Block, type Look, type Words, wordsOf } from "./markdown";

/** A sentence of an answer as a range of a JavaScript string, and what supports it. */
export interface Proved {
  start: number;
  /** Where its words end; the markers after them are shown as buttons instead. */
  end: number;
  /** Where the sentence ends, with its markers. */
  whole: number;
  flag: Flag | null;
  markers: readonly number[];
}

/** That the documents contradict a sentence or lack it, and why, as far as that is known. */
export interface Flag {
  state: "missing" | "contradicted";
  reason: string;
}

/** A marker at the end of a sentence, or in the last cell of a row. */
const MARKER = /\s*\[(?:(?:Web )?Source )?(\d{1,3}|\?)\]\s*\|?\s*$/;

/** The statements of a complete answer. */
export function provedOf(text: string, statements: readonly Statement[]): Proved[] {
  const points = new CodePoints(text);
  return statements.map((one) => proved(text, points.unit(one.start), points.unit(one.end), flagOf(one), one.markers));
}

/** The sentences that were checked so far, located in the text of an unfinished answer. */
export function locatedIn(text: string, sentences: readonly SentenceEvent[]): Proved[] {
  const out: Proved[] = [];
  let from = 0;
  for (const one of sentences) {
    const start = text.indexOf(one.text, from);
    if (start < 0) continue;
    from = start + one.text.length;
    out.push(
      proved(
        text,
        start,
        from,
        flagOf(one),
        one.citations.map((citation) => citation.marker),
      ),
    );
  }
  return out;
}

const flagOf = ({ state, reason }: Pick<Statement, "state" | "reason">): Flag | null =>
  state === "contradicted" || state === "missing" ? { state, reason } : null;

/** How many sentences are flagged, in words; empty if none is. */
export const toldFlags = (proofs: readonly Proved[], say: SharedTexts): string =>
  (["contradicted", "missing"] as const)
    .flatMap((state) => {
      const { length } = proofs.filter((one) => one.flag?.state === state);
      return length ? say.flagged[state](length, proofs.length) : [];
    })
    .join(" ");

function proved(text: string, start: number, whole: number, flag: Flag | null, markers: readonly number[]): Proved {
  let end = whole;
  for (let found = MARKER.exec(text.slice(start, end)); found; found = MARKER.exec(text.slice(start, end))) {
    const ours = found[1] === "?" ? flag !== null : markers.includes(Number(found[1]));
    if (!ours) break;
    end = start + found.index;
  }
  return { start, end, whole, flag, markers };
}

/** Consecutive characters with the same look. */
export interface Piece {
  text: string;
  look: Look;
}

/** Consecutive pieces of one sentence; `closed` if the sentence and its markers end here. */
export interface Passage {
  sentence: number | null;
  closed: boolean;
  pieces: Piece[];
}

/** Split the words of blocks into passages, so that every sentence can be marked as right or wrong. */
export function passagesOf(
  text: string,
  blocks: readonly Block[],
  proofs: readonly Proved[],
): ReadonlyMap<Words, Passage[]> {
  const last = new Map<number, Passage>();
  const out = new Map(wordsOf(blocks).map((words) => [words, passages(text, words, proofs, last)]));
  for (const passage of last.values()) passage.closed = true;
  return out;
}

function passages(text: string, { runs }: Words, proofs: readonly Proved[], last: Map<number, Passage>): Passage[] {
  const out: Passage[] = [];
  for (const { start, end, look } of runs) {
    if (look === "gap") continue;
    for (let at = start; at < end; ) {
      const number = proofs.findIndex((one) => one.whole > at);
      const next = proofs[number];
      const inside = next !== undefined && next.start <= at;
      const until = Math.min(
        end,
        next === undefined ? end : !inside ? next.start : at < next.end ? next.end : next.whole,
      );
      const sentence = inside ? number : null;
      if (!inside || at < (next as Proved).end) {
        const before = out.at(-1);
        const piece = { text: text.slice(at, until), look };
        if (before && before.sentence === sentence) before.pieces.push(piece);
        else out.push({ sentence, closed: false, pieces: [piece] });
        if (sentence !== null) last.set(sentence, out.at(-1) as Passage);
      }
      at = until;
    }
  }
  return out;
}

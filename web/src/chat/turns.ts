import type { AnswerEvent } from "../api/query";
import type { Answer, EvidenceEvent, Fitting, Forecast, Research, SentenceEvent, Action as Step } from "../api/types";

export type Vote = "up" | "down";

/** How much work a question is worth. */
export type Effort = NonNullable<Research["effort"]> | "report";

/** A question and the progress of its answer. */
export interface Turn {
  id: string;
  question: string;
  where: string;
  /** The address of the picture that it is about, which is kept while the page is open. */
  picture?: string | undefined;
  /** A quick answer unless it says more. */
  effort?: Effort | undefined;
  state: "searching" | "writing" | "done" | "stopped" | "failed";
  text: string;
  sentences: readonly SentenceEvent[];
  evidence: EvidenceEvent | null;
  /** What research is expected to cost, and its steps so far. */
  forecast?: Forecast;
  steps?: readonly Step[];
  /** The documents of a list. */
  listed?: Fitting | null | undefined;
  answer: Answer | null;
  error: string;
  vote: Vote | null;
}

export interface Chat {
  session: string;
  turns: readonly Turn[];
  /** Whether its stored turns are being loaded. */
  loading: boolean;
}

/** The actions of a conversation. */
export type Action = { session: string } & (
  | { type: "loaded"; turns: readonly Turn[] }
  | { type: "asked"; id: string; question: string; where: string; effort?: Effort; picture?: string }
  | { type: "event"; id: string; event: AnswerEvent }
  | { type: "stopped"; id: string }
  | { type: "failed"; id: string; error: string }
  | { type: "voted"; id: string; vote: Vote | null }
);

export const fresh = (id: string, question: string, where = "", effort?: Effort, picture?: string): Turn => ({
  id,
  question,
  where,
  effort,
  picture,
  state: "searching",
  text: "",
  sentences: [],
  evidence: null,
  answer: null,
  error: "",
  vote: null,
});

export const isUnderWay = (turn: Turn | undefined): boolean => turn?.state === "searching" || turn?.state === "writing";

export function reduce(chat: Chat, action: Action): Chat {
  switch (action.type) {
    case "loaded":
      return { ...chat, turns: [...action.turns, ...chat.turns], loading: false }; // who asks at once does not wait
    case "asked":
      // A question that is asked again replaces its failure.
      return {
        ...chat,
        turns: [
          ...chat.turns.filter((turn) => turn.id !== action.id),
          fresh(action.id, action.question, action.where, action.effort, action.picture),
        ],
      };
    case "event":
      return changed(chat, action.id, (turn) => (isUnderWay(turn) ? after(turn, action.event) : turn));
    case "stopped":
      return changed(chat, action.id, (turn) => (isUnderWay(turn) ? { ...turn, state: "stopped" } : turn));
    case "failed":
      return changed(chat, action.id, (turn) => ({ ...turn, state: "failed", error: action.error }));
    case "voted":
      return changed(chat, action.id, (turn) => ({ ...turn, vote: action.vote }));
  }
}

export function changed(chat: Chat, id: string, change: (turn: Turn) => Turn): Chat {
  return { ...chat, turns: chat.turns.map((turn) => (turn.id === id ? change(turn) : turn)) };
}

function after(turn: Turn, event: AnswerEvent): Turn {
  switch (event.type) {
    case "evidence":
      return { ...turn, evidence: event.evidence };
    case "text":
      return { ...turn, state: "writing", text: turn.text + event.text };
    case "sentence":
      return { ...turn, sentences: [...turn.sentences, event.sentence] };
    case "answer":
      return { ...turn, state: "done", text: event.answer.answer, answer: event.answer, listed: event.listed };
    default:
      return turn; // a step of research, or of a newer server
  }
}

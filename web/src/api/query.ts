import { shared } from "../words/shared";
import { ApiError } from "./errors";
import { eventsOf } from "./sse";
import type { Action, Answer, EvidenceEvent, Fitting, Forecast, Problem, ResearchAnswer, SentenceEvent } from "./types";

/** The events of a question, in this order; the first two only of research. */
export type AnswerEvent =
  | { type: "forecast"; forecast: Forecast }
  | { type: "action"; action: Action }
  | { type: "evidence"; evidence: EvidenceEvent }
  | { type: "text"; text: string }
  | { type: "sentence"; sentence: SentenceEvent }
  | { type: "answer"; answer: Answer; listed?: Fitting | null };

/** Yield the events of a streamed answer; throw an error event. */
export async function* answerEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<AnswerEvent> {
  for await (const { event, data } of eventsOf(body)) {
    const told = JSON.parse(data);
    if (event === "forecast") yield { type: "forecast", forecast: told };
    else if (event === "action") yield { type: "action", action: told };
    else if (event === "evidence") yield { type: "evidence", evidence: told };
    else if (event === "text") yield { type: "text", text: told.text };
    else if (event === "sentence") yield { type: "sentence", sentence: told };
    else if (event === "answer") {
      yield isResearch(told)
        ? { type: "answer", answer: told.answer, listed: told.documents }
        : { type: "answer", answer: told };
      return;
    } else if (event === "error") {
      const { error } = told as Problem;
      throw new ApiError(200, error.code, error.message);
    }
  }
  throw new Error(shared().interrupted);
}

const isResearch = (told: Answer | ResearchAnswer): told is ResearchAnswer => "forecast" in told;

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
    if (event === "error") {
      const { error } = told as Problem;
      throw new ApiError(200, error.code, error.message);
    }
    if (event === "answer") {
      yield "forecast" in told
        ? { type: "answer", answer: (told as ResearchAnswer).answer, listed: (told as ResearchAnswer).documents }
        : { type: "answer", answer: told };
      return;
    }
    yield { type: event, [event]: event === "text" ? told.text : told } as unknown as AnswerEvent;
  }
  throw new Error(shared().interrupted);
}

import { shared } from "../words/shared";
import { ApiError } from "./errors";
import { eventsOf } from "./sse";
import type { Answer, EvidenceEvent, Problem, SentenceEvent } from "./types";

/** The events of a question, in this order. */
export type AnswerEvent =
  | { type: "evidence"; evidence: EvidenceEvent }
  | { type: "text"; text: string }
  | { type: "sentence"; sentence: SentenceEvent }
  | { type: "answer"; answer: Answer };

/** Yield the events of a streamed answer; throw an error event. */
export async function* answerEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<AnswerEvent> {
  for await (const { event, data } of eventsOf(body)) {
    const told = JSON.parse(data);
    if (event === "evidence") yield { type: "evidence", evidence: told };
    else if (event === "text") yield { type: "text", text: told.text };
    else if (event === "sentence") yield { type: "sentence", sentence: told };
    else if (event === "answer") {
      yield { type: "answer", answer: told };
      return;
    } else if (event === "error") {
      const { error } = told as Problem;
      throw new ApiError(200, error.code, error.message);
    }
  }
  throw new Error(shared().interrupted);
}

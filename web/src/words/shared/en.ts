import { plural } from "../plural";

export const count = (number: number, one: string, other = `${one}s`) => plural("en", number, { one, other });
export const isNumber = (label: string) => /^[\divxlc]+$/i.test(label);

/** The texts in English that the page and the chat on other sites have in common; other languages follow it. */
export const en = {
  unreachable: "The server cannot be reached. Try again in a moment.",
  interrupted: "The answer was interrupted. Ask again.",
  retryIn: (message: string, seconds: number) => `${message} Try again in ${seconds} s.`,
  close: "Close",
  newConversation: "New conversation",
  promise:
    "Every sentence of an answer shows the exact words it rests on. If the documents have no answer, you are told so.",
  askQuestion: "Ask a question",
  question: "Question",
  ask: "Ask",
  stop: "Stop",
  searching: "Searching the documents",
  reading: (passages: number) => `Reading ${count(passages, "passage")}`,
  citation: (marker: number) => `Citation ${marker}`,
  answerIs: (answer: string) => `Answer: ${answer}`,
  notSupported: "contradicted",
  notSaid: "The documents contradict this",
  unsupported: (wrong: number, all: number) =>
    `${wrong} of ${count(all, "sentence")} ${wrong === 1 ? "is" : "are"} contradicted by the documents.`,
  table: "Table",
  cited: "Cited",
  closest: "Closest passages",
  stoppedEarly: "Stopped. The text above was not fully checked.",
  askAgain: "Ask again",
  onPage: (label: string) => (isNumber(label) ? `page ${label}` : label),
  newTab: "opens a new tab",
  goodAnswer: "Good answer",
  badAnswer: "Bad answer",
  thanks: "Thank you for your feedback.",
};

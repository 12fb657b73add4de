import { plural } from "../plural";
import type { Shared } from "./words";

export const count = (number: number, one: string, other: string) => plural("de", number, { one, other });
export const isNumber = (label: string) => /^[\divxlc]+$/i.test(label);

export const de: Shared = {
  unreachable: "Der Server ist nicht erreichbar. Versuchen Sie es gleich noch einmal.",
  interrupted: "Die Antwort wurde unterbrochen. Fragen Sie noch einmal.",
  retryIn: (message, seconds) => `${message} Versuchen Sie es in ${seconds} s erneut.`,
  close: "Schließen",
  newConversation: "Neues Gespräch",
  promise:
    "Jeder Satz einer Antwort zeigt den genauen Wortlaut, auf dem er beruht. Haben die Dokumente keine Antwort, erfahren Sie das.",
  askQuestion: "Eine Frage stellen",
  question: "Frage",
  ask: "Fragen",
  stop: "Anhalten",
  searching: "Die Dokumente werden durchsucht",
  reading: (passages) => `${count(passages, "Stelle wird", "Stellen werden")} gelesen`,
  citation: (marker) => `Beleg ${marker}`,
  answerIs: (answer) => `Antwort: ${answer}`,
  notSupported: "widersprochen",
  notSaid: "Die Dokumente widersprechen dem",
  unsupported: (wrong, all) =>
    `${wrong} von ${count(all, "Satz", "Sätzen")} ${wrong === 1 ? "ist" : "sind"} nach den Dokumenten falsch.`,
  table: "Tabelle",
  cited: "Zitiert",
  closest: "Nächstliegende Stellen",
  stoppedEarly: "Angehalten. Der Text oben wurde nicht vollständig geprüft.",
  askAgain: "Noch einmal fragen",
  onPage: (label) => (isNumber(label) ? `Seite ${label}` : label),
  newTab: "öffnet einen neuen Tab",
  goodAnswer: "Gute Antwort",
  badAnswer: "Schlechte Antwort",
  thanks: "Danke für Ihre Rückmeldung.",
};

import { plural } from "../plural";
import type { Shared } from "./words";

/** One (1, 21), few (2 to 9), other (10 to 20, 30): „1 dokumentas“, „2 dokumentai“, „10 dokumentų“. */
export const count = (number: number, one: string, few: string, other: string) =>
  plural("lt", number, { one, few, other });
export const isNumber = (label: string) => /^[\divxlc]+$/i.test(label);

export const lt: Shared = {
  unreachable: "Serveris nepasiekiamas. Pabandykite po akimirkos.",
  interrupted: "Atsakymas nutrūko. Paklauskite dar kartą.",
  retryIn: (message, seconds) => `${message} Pabandykite po ${seconds} s.`,
  close: "Užverti",
  newConversation: "Naujas pokalbis",
  promise:
    "Kiekvienas atsakymo sakinys parodo tikslius žodžius, kuriais remiasi. Jei dokumentuose atsakymo nėra, taip ir pasakoma.",
  askQuestion: "Užduoti klausimą",
  question: "Klausimas",
  ask: "Klausti",
  stop: "Stabdyti",
  searching: "Ieškoma dokumentuose",
  reading: (passages) => `Skaitoma: ${count(passages, "ištrauka", "ištraukos", "ištraukų")}`,
  citation: (marker) => `Citata ${marker}`,
  answerIs: (answer) => `Atsakymas: ${answer}`,
  notSupported: "prieštarauja",
  notSaid: "Dokumentai tam prieštarauja",
  unsupported: (wrong, all) => `Dokumentams prieštarauja sakinių: ${wrong} iš ${all}.`,
  table: "Lentelė",
  cited: "Cituojama",
  closest: "Artimiausios ištraukos",
  stoppedEarly: "Sustabdyta. Tekstas viršuje nebuvo iki galo patikrintas.",
  askAgain: "Klausti dar kartą",
  onPage: (label) => (isNumber(label) ? `${label} puslapis` : label),
  newTab: "atveria naują kortelę",
  goodAnswer: "Geras atsakymas",
  badAnswer: "Blogas atsakymas",
  thanks: "Ačiū už jūsų nuomonę.",
};

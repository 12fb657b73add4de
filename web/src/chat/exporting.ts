import type { Conversation } from "../api/types";
import { cellsIn } from "../text/markdown";
import { asText } from "./CopyButton";
import type { Target } from "./target";
import type { Turn } from "./turns";

/** Return a conversation as Markdown: each question as a heading, its answer, and what it cites. */
export function asMarkdown(title: string, turns: readonly Turn[]): string {
  const parts = turns.map((turn) => `## ${line(turn.question)}\n\n${asText(turn)}`);
  return `${[`# ${line(title)}`, ...parts].join("\n\n")}\n`;
}

/** Return a conversation as JSON, with the complete answers as the server gave them. */
export function asJson({ session, title }: Pick<Conversation, "session" | "title">, turns: readonly Turn[]): string {
  const told = turns.map(({ question, text, answer }) => ({ question, answer: text, complete: answer }));
  return `${JSON.stringify({ session, title, turns: told }, null, 2)}\n`;
}

/** Beginnings of a cell that a spreadsheet would run; an apostrophe before them keeps it text. */
const FORMULA = /^[=+\-@\t\r]/;

/** Return the documents of a list as CSV, with the mark by which spreadsheets know UTF-8. */
export function csvOf(targets: readonly Target[], dates: ReadonlyMap<string, string>): string {
  const rows = targets.map((one) => [
    one.title,
    dates.get(one.documentId) ?? "",
    one.documentId,
    one.quote,
    one.start,
    one.end,
    one.page,
    one.url,
  ]);
  return asCsv([["title", "date", "document_id", "quote", "start", "end", "page", "url"], ...rows]);
}

/** Return a comparison as CSV: the table of an answer, and below it the documents of its numbers. */
export function comparisonCsv(text: string, targets: readonly Target[]): string {
  const sources = targets.map((one) => [`[${one.marker}]`, one.title, one.documentId, one.page]);
  return asCsv([...cellsIn(text), ...sources]);
}

const asCsv = (rows: readonly (readonly (string | number)[])[]): string =>
  `\uFEFF${rows.map((row) => row.map(cell).join(",")).join("\n")}\n`;

function cell(value: string | number): string {
  if (typeof value === "number") return String(value);
  const text = line(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const line = (text: string): string => text.replace(/\s+/g, " ").trim();

/** Save a text as a file that is named after a title. */
export function saved(title: string, suffix: string, text: string): void {
  const name = line(title.replace(/[\\/:*?"<>|\p{Cc}]/gu, " ")).slice(0, 80) || "conversation";
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  link.download = `${name}.${suffix}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

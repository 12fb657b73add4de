import { errorFrom } from "../api/errors";
import { type AnswerEvent, answerEvents } from "../api/query";
import type { Feedback, Question } from "../api/types";
import { language } from "../words/shared";

/** Seconds before its end at which a token is replaced. */
const EARLY = 20;

/** The server that answers, and the site's own server that gives tokens. No cookie is ever sent to the former. */
export class Server {
  private token = "";
  private until = 0;
  private tag = "";

  constructor(
    private readonly url: URL,
    private readonly tokens: URL | null,
  ) {}

  async *ask(question: Question, signal: AbortSignal): AsyncGenerator<AnswerEvent> {
    const response = await this.answered("query", "text/event-stream", question, signal);
    if (response.body) yield* answerEvents(response.body);
  }

  async rate(given: Feedback): Promise<void> {
    await this.answered("feedback", "application/json", given);
  }

  /** What tells the visitor of the last token from others in the same browser; empty for those without a name. */
  get visitor(): string {
    return this.tag;
  }

  /** Whether visitors are told apart: by their tokens, or because nobody has a name. */
  get isIdentified(): boolean {
    return !this.tokens || this.tag !== "";
  }

  /** Find out who the visitor is, if the site tells. */
  async identified(): Promise<void> {
    if (this.tokens) await this.valid(this.tokens);
  }

  /** Forget the token. */
  forget(): void {
    this.until = 0;
    this.tag = "";
  }

  private async answered(path: string, accept: string, body: object, signal?: AbortSignal): Promise<Response> {
    let response = await this.sent(path, accept, body, signal);
    if (response.status === 401 && this.tokens) {
      this.until = 0; // it ended early: its key was revoked, or the visitor's computer slept
      response = await this.sent(path, accept, body, signal);
    }
    if (!response.ok) throw errorFrom(response.status, await response.text(), response.headers.get("Retry-After"));
    return response;
  }

  private async sent(path: string, accept: string, body: object, signal?: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = {
      Accept: accept,
      "Accept-Language": language(),
      "Content-Type": "application/json",
    };
    if (this.tokens) headers.Authorization = `Bearer ${await this.valid(this.tokens, signal)}`;
    return fetch(new URL(path, this.url), {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      signal: signal ?? null,
      credentials: "omit",
      referrerPolicy: "no-referrer",
    });
  }

  private async valid(tokens: URL, signal?: AbortSignal): Promise<string> {
    if (Date.now() < this.until) return this.token;
    const headers = { Accept: "application/json" };
    const response = await fetch(tokens, { method: "POST", headers, signal: signal ?? null });
    if (!response.ok) throw errorFrom(response.status, await response.text(), response.headers.get("Retry-After"));
    const made = (await response.json()) as { token: string; expires_in: number; visitor?: string };
    const { token, expires_in } = made;
    this.token = token;
    this.tag = made.visitor || "";
    this.until = Date.now() + (expires_in - EARLY) * 1000;
    return token;
  }
}

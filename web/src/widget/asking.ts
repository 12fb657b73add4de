import { errorFrom } from "../api/errors";
import { type AnswerEvent, answerEvents } from "../api/query";
import type { Question } from "../api/types";

/** Seconds before its end at which a token is replaced. */
const EARLY = 20;

/** The server that answers, and the site's own server that gives tokens. No cookie is ever sent to the former. */
export class Server {
  private token = "";
  private until = 0;

  constructor(
    private readonly url: URL,
    private readonly tokens: URL | null,
  ) {}

  async *ask(question: Question, signal: AbortSignal): AsyncGenerator<AnswerEvent> {
    let response = await this.sent(question, signal);
    if (response.status === 401 && this.tokens) {
      this.until = 0; // it ended early: its key was revoked, or the visitor's computer slept
      response = await this.sent(question, signal);
    }
    if (!response.ok || !response.body) {
      throw errorFrom(response.status, await response.text(), response.headers.get("Retry-After"));
    }
    yield* answerEvents(response.body);
  }

  private async sent(question: Question, signal: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = { Accept: "text/event-stream", "Content-Type": "application/json" };
    if (this.tokens) headers.Authorization = `Bearer ${await this.valid(this.tokens, signal)}`;
    return fetch(new URL("query", this.url), {
      method: "POST",
      headers,
      body: JSON.stringify(question),
      signal,
      credentials: "omit",
      referrerPolicy: "no-referrer",
    });
  }

  private async valid(tokens: URL, signal: AbortSignal): Promise<string> {
    if (Date.now() < this.until) return this.token;
    const response = await fetch(tokens, { method: "POST", headers: { Accept: "application/json" }, signal });
    if (!response.ok) throw errorFrom(response.status, await response.text(), response.headers.get("Retry-After"));
    const { token, expires_in } = (await response.json()) as { token: string; expires_in: number };
    this.token = token;
    this.until = Date.now() + (expires_in - EARLY) * 1000;
    return token;
  }
}

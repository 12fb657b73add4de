import { language } from "../words/shared";
import { errorFrom } from "./errors";
import { keys } from "./keys";
import { type AnswerEvent, answerEvents } from "./query";
import type {
  Attachment,
  Collection,
  Conversation,
  ConversationChange,
  Feedback,
  Job,
  KeptResponse,
  KeptTurn,
  Link,
  Listing,
  Me,
  Original,
  Question,
  Research,
  SharedAnswer,
  SignedOut,
  SignInWays,
  StoredDocument,
  Suggestion,
  TableRows,
} from "./types";
import { upload } from "./upload";

/** The base URL of the API: that of this page, unless the build sets another. */
export const base = (): URL => new URL(`${import.meta.env.VITE_API || "."}/`, document.baseURI);

/** Return the URL of a route. Each part is one path segment, whatever its characters. */
export function address(parts: readonly string[], query: Record<string, string | number | undefined> = {}): URL {
  const url = new URL(parts.map(encodeURIComponent).join("/"), base());
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") url.searchParams.set(name, String(value));
  }
  return url;
}

/** Headers that say who asks: the key, or that it is this page, where the browser sends the cookie of a session. */
export const authorization = (): Record<string, string> => {
  const key = keys.get();
  if (key) return { Authorization: `Bearer ${key}` };
  return base().origin === location.origin ? { "X-Ragstone": "page" } : {};
};

interface Options {
  method?: string;
  body?: unknown;
  accept?: string;
  signal?: AbortSignal | undefined;
  /** A refusal for want of a session or key is the caller's to tell. */
  quiet?: boolean;
}

let refused: (message: string) => void = () => undefined;
let callers = 0;

/** Register what to call when the server asks for a key or rejects one. */
export function onRefused(call: (message: string) => void): void {
  refused = call;
}

/** Say that the page has another caller from now on, of whom the refusals of earlier requests tell nothing. */
export function changeCaller(): void {
  callers++;
}

/** Return a function that tells whether the page still has the caller that it has now. */
export function sameCaller(): () => boolean {
  const caller = callers;
  return () => caller === callers;
}

export async function sent(
  url: URL,
  { method = "GET", body, accept = "application/json", signal, quiet = false }: Options,
): Promise<Response> {
  const headers: Record<string, string> = { Accept: accept, "Accept-Language": language(), ...authorization() };
  const isSame = sameCaller();
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const response = await fetch(url, {
    method,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
    signal: signal ?? null,
    credentials: "same-origin",
    referrerPolicy: "no-referrer",
  });
  if (!response.ok) {
    const error = errorFrom(response.status, await response.text(), response.headers.get("Retry-After"));
    if (response.status === 401 && !quiet && isSame()) refused(error.message);
    throw error;
  }
  return response;
}

export async function json<T>(url: URL, options: Options = {}): Promise<T> {
  return (await (await sent(url, options)).json()) as T;
}

async function* streamed(route: string, asked: Question | Research, signal: AbortSignal): AsyncGenerator<AnswerEvent> {
  const response = await sent(address([route]), { method: "POST", body: asked, accept: "text/event-stream", signal });
  if (!response.body) throw new Error("This browser cannot read a stream.");
  yield* answerEvents(response.body);
}

/** All requests of the page. */
export const api = {
  me: () => json<Me>(address(["me"])),

  /** Return how people can sign in. */
  ways: () => json<SignInWays>(address(["sign-in"])),

  signIn: (name: string, password: string) =>
    sent(address(["sign-in"]), { method: "POST", body: { name, password }, quiet: true }),

  changePassword: (current: string, renewed: string) =>
    sent(address(["sign-in", "password"]), { method: "POST", body: { current, new: renewed }, quiet: true }),

  signOut: () => json<SignedOut>(address(["sign-out"]), { method: "POST", quiet: true }),

  ask: (asked: Question, signal: AbortSignal) => streamed("query", asked, signal),

  research: (asked: Research, signal: AbortSignal) => streamed("research", asked, signal),

  /** Let research that was given this name end with what stands so far. */
  stopResearch: (run: string) => sent(address(["research", "stop"]), { method: "POST", body: { run } }),

  /** Return questions that documents answer: any, or one near a character. */
  suggestions: async (
    wanted: { document_id?: string; start?: number; where?: string; count: number },
    signal?: AbortSignal,
  ) => (await json<{ questions: Suggestion[] }>(address(["suggestions"], wanted), { signal, quiet: true })).questions,

  /** Return the collections to choose from. */
  collections: async () =>
    (await json<{ collections: Collection[] }>(address(["collections"]), { quiet: true })).collections,

  feedback: (given: Feedback) => sent(address(["feedback"]), { method: "POST", body: given }),

  /** Return a stored answer with its evidence; of a refusal, the closest passages. */
  response: (id: string) => json<KeptResponse>(address(["responses", id], { explain: "true" })),

  /** Return the conversations that have some words, or all of them. */
  conversations: async (q = "", signal?: AbortSignal) =>
    (await json<{ conversations: Conversation[] }>(address(["conversations"], { q }), { signal })).conversations,

  conversation: async (session: string) =>
    (await json<{ turns: KeptTurn[] }>(address(["conversations", session]))).turns,

  change: (session: string, what: ConversationChange) =>
    sent(address(["conversations", session]), { method: "PATCH", body: what }),

  forget: (session: string) => sent(address(["conversations", session]), { method: "DELETE" }),

  links: async (session: string) => (await json<{ links: Link[] }>(address(["links", session]))).links,

  /** Make a link to a conversation, and return the secret it ends with. */
  share: async (session: string, days: number | null) =>
    (await json<{ secret: string }>(address(["links", session]), { method: "POST", body: { days } })).secret,

  takeBack: (session: string) => sent(address(["links", session]), { method: "DELETE" }),

  shared: async (secret: string) => (await json<{ turns: SharedAnswer[] }>(address(["shared", secret]))).turns,

  /** Copy a shared conversation, and return the name of the copy. */
  copyShared: async (secret: string) =>
    (await json<{ session: string }>(address(["shared", secret]), { method: "POST" })).session,

  documents: (
    wanted: { q?: string; after?: string; order?: "id" | "newest" | "oldest"; limit?: number; where?: string },
    signal?: AbortSignal,
  ) => json<Listing>(address(["documents"], wanted), { signal }),

  document: (id: string, signal?: AbortSignal) =>
    json<StoredDocument>(address(["documents", id], { parse: "true" }), { signal }),

  places: (id: string, start: number, end: number, signal?: AbortSignal) =>
    json<Original>(address(["places", id], { start, end }), { signal }),

  /** Return a row of a table between the rows around it. */
  rows: (id: string, start: number, end: number, signal?: AbortSignal) =>
    json<TableRows>(address(["rows", id], { start, end }), { signal }),

  /** Return a page of a document's file as an image. */
  page: async (id: string, number: number, width: number, signal?: AbortSignal) =>
    (await sent(address(["pages", id], { number, width }), { accept: "image/png", signal })).blob(),

  /** Save the file of a document. A link could not send the key. */
  save: async (id: string, name: string) => {
    const content = await (await sent(address(["originals", id]), { accept: "*/*" })).blob();
    const link = document.createElement("a");
    link.href = URL.createObjectURL(content);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  },

  remove: (id: string) => sent(address(["documents", id]), { method: "DELETE" }),

  upload: (
    file: File,
    name: string,
    groups: readonly string[] | null,
    onProgress: (share: number) => void,
    signal: AbortSignal,
  ): Promise<Job> => upload(address(["documents"]), { file, name, groups }, authorization(), onProgress, signal),

  /** Return the files that are attached to a conversation. */
  attachments: async (session: string) =>
    (await json<{ attachments: Attachment[] }>(address(["attachments"], { session }), { quiet: true })).attachments,

  attach: (session: string, file: File, onProgress: (share: number) => void, signal: AbortSignal): Promise<Job> =>
    upload(
      address(["attachments"], { session }),
      { file, name: file.name, groups: null },
      authorization(),
      onProgress,
      signal,
    ),

  detach: (session: string, file: string) => sent(address(["attachments"], { session, file }), { method: "DELETE" }),

  /** Add a web page or feed by its address. */
  addPage: (added: string) => json<Job>(address(["pages"]), { method: "POST", body: { address: added } }),

  job: (id: string) => json<Job>(address(["jobs", id])),
};

import { type Chat, isUnderWay, type Turn } from "../chat/turns";

/** The form of what is kept; another one is forgotten. */
const FORM = 1;
const MOST_TURNS = 20;

/** A conversation of a visitor: whose it is, its name on the server, and its turns. */
export interface Kept {
  form: number;
  visitor: string;
  session: string;
  turns: readonly Turn[];
}

/**
 * What this tab keeps of a conversation while the visitor moves from page to page of the site. It is the site's own
 * storage, which ends with the tab and which no other site can read.
 */
export class Keeper {
  private readonly name: string;

  constructor(server: URL) {
    this.name = `ragstone-chat ${server.href}`;
  }

  /** Return what is kept; null if it is nothing, or nothing that can be read. */
  read(): Kept | null {
    try {
      const kept = JSON.parse(sessionStorage.getItem(this.name) ?? "null") as Kept | null;
      return kept?.form === FORM && kept.turns.length ? { ...kept, turns: kept.turns.map(ended) } : null;
    } catch {
      return null; // the browser allows no storage, or somebody else wrote there
    }
  }

  /** Keep the last turns of a conversation, or as many of them as there is room for. */
  write({ session, turns }: Chat, visitor: string): void {
    for (let most = MOST_TURNS; most > 0; most >>= 1) {
      try {
        const kept: Kept = { form: FORM, visitor, session, turns: turns.slice(-most) };
        sessionStorage.setItem(this.name, JSON.stringify(kept));
        return;
      } catch {} // full
    }
    this.forget();
  }

  forget(): void {
    try {
      sessionStorage.removeItem(this.name);
    } catch {} // the browser allows no storage
  }
}

/** An answer that was under way when the page was left does not come any more. */
const ended = (turn: Turn): Turn => (isUnderWay(turn) ? { ...turn, state: "stopped" } : turn);

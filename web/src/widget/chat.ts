import { isAbort, told } from "../api/errors";
import { type Chat, isUnderWay, reduce, type Turn, type Vote } from "../chat/turns";
import { randomId } from "../shell/ids";
import { shared } from "../words/shared";
import { turnView } from "./answer";
import type { Server } from "./asking";
import { el, icon, iconButton } from "./dom";
import type { Keeper, Kept } from "./kept";

const LONGEST = 8000;

/**
 * The panel with the conversation. It is a modal dialog of the browser, which keeps the focus within, closes by Escape,
 * gives the focus back, and stands above everything of the site.
 */
export class ChatPanel {
  readonly root: HTMLDialogElement;
  private readonly turns = el("div", { class: "turns" });
  private readonly list: HTMLElement;
  private readonly box: HTMLTextAreaElement;
  private readonly send: HTMLButtonElement;
  /** What screen readers are told. An answer is read as a whole and not word by word. */
  private readonly status = el("p", { class: "unseen", role: "status" });
  private readonly views = new Map<string, HTMLElement>();
  private chat: Chat = { session: randomId(), turns: [], loading: false };
  private running: AbortController | null = null;
  private drawing = 0;
  /** A conversation of another page of the site, until it is known to be this visitor's. */
  private kept: Kept | null;

  constructor(
    private readonly server: Server,
    private readonly keeper: Keeper,
    title: string,
  ) {
    this.kept = keeper.read();
    const say = shared();
    this.list = el("section", { class: "list", tabindex: "0", "aria-label": title });
    this.list.append(el("p", { class: "quiet" }, say.promise), this.turns);
    this.box = el("textarea", {
      "aria-label": say.question,
      placeholder: say.askQuestion,
      rows: "1",
      maxlength: String(LONGEST),
      autofocus: "",
    });
    this.send = el("button", { type: "submit", class: "send" });
    const form = el("form", {}, this.box, this.send);
    const heading = el(
      "div",
      { class: "head" },
      el("h2", { id: "title" }, title),
      iconButton("plus", say.newConversation, () => this.begin()),
      iconButton("close", say.close, () => this.root.close()),
    );
    this.root = el("dialog", { "aria-labelledby": "title" }, heading, this.list, form, this.status);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    this.box.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      if (!this.running) this.submit();
    });
    this.root.addEventListener("click", (event) => {
      if (event.target === this.root) this.root.close(); // beside the panel: its own parts cover it whole
    });
    this.root.addEventListener("keydown", (event) => event.stopPropagation()); // the site's shortcuts are not meant
    this.drawButton();
  }

  open(): void {
    if (!this.root.open) this.root.showModal();
    if (this.kept) void this.goOn(this.kept);
  }

  /** Go on with the conversation of another page of the site, if it is this visitor's: others may use this tab, too. */
  private async goOn(kept: Kept): Promise<void> {
    this.kept = null;
    try {
      await this.server.identified();
    } catch {
      this.kept = kept; // no token now: the next opening tries again
      return;
    }
    if (!this.server.isIdentified || kept.visitor !== this.server.visitor) this.keeper.forget();
    else if (!this.chat.turns.length) {
      this.chat = { session: kept.session, turns: kept.turns, loading: false };
      this.draw();
      this.views.get(kept.turns.at(-1)?.id ?? "")?.scrollIntoView({ block: "start" });
    }
  }

  /** Forget the visitor and the conversation, because the visitor signs out of the site. */
  forget(): void {
    this.server.forget();
    this.end();
  }

  /** Forget the conversation and begin another one. */
  private begin(): void {
    this.end();
    this.box.focus();
  }

  private end(): void {
    this.running?.abort();
    this.kept = null;
    this.keeper.forget();
    this.chat = { session: randomId(), turns: [], loading: false };
    this.draw();
  }

  private submit(): void {
    const question = this.box.value.trim();
    if (this.running) this.running.abort();
    else if (question) {
      this.box.value = "";
      if (matchMedia("(pointer: coarse)").matches) this.box.blur(); // the on-screen keyboard would cover the answer
      void this.ask(randomId(), question);
    }
  }

  private async ask(id: string, question: string): Promise<void> {
    const { session } = this.chat;
    const stopper = new AbortController();
    this.running = stopper;
    this.reduce({ session, type: "asked", id, question, where: "" });
    this.status.textContent = shared().searching;
    this.draw();
    this.views.get(id)?.scrollIntoView({ block: "start" });
    try {
      for await (const event of this.server.ask({ question, session }, stopper.signal)) {
        this.reduce({ session, type: "event", id, event });
        if (event.type === "evidence") this.keep();
        if (event.type === "answer") this.status.textContent = shared().answerIs(event.answer.answer);
      }
    } catch (error) {
      if (isAbort(error)) this.reduce({ session, type: "stopped", id });
      else this.reduce({ session, type: "failed", id, error: told(error) });
      if (error instanceof TypeError) explain(error);
    }
    if (this.running === stopper) this.running = null;
    this.keep();
    this.draw();
  }

  private keep(): void {
    if (this.chat.turns.length && this.server.isIdentified) this.keeper.write(this.chat, this.server.visitor);
  }

  private async vote(turn: Turn, vote: Vote): Promise<string> {
    const { session } = this.chat;
    try {
      await this.server.rate({ response_id: turn.answer?.response_id ?? "", vote });
    } catch (error) {
      this.status.textContent = told(error);
      return told(error);
    }
    this.reduce({ session, type: "voted", id: turn.id, vote });
    this.keep();
    this.status.textContent = shared().thanks;
    return shared().thanks;
  }

  private reduce(action: Parameters<typeof reduce>[1]): void {
    if (action.session !== this.chat.session) return;
    this.chat = reduce(this.chat, action);
    this.drawing ||= requestAnimationFrame(() => this.draw());
  }

  /** Draw what is under way again, and what is new; nothing that a visitor may have opened. */
  private draw(): void {
    cancelAnimationFrame(this.drawing);
    this.drawing = 0;
    for (const [id, view] of this.views) {
      if (!this.chat.turns.some((turn) => turn.id === id)) {
        view.remove();
        this.views.delete(id);
      }
    }
    for (const turn of this.chat.turns) {
      const before = this.views.get(turn.id);
      if (before && before.dataset.drawn === "last") continue;
      const view = turnView(
        turn,
        () => this.again(turn),
        (vote) => this.vote(turn, vote),
      );
      if (!isUnderWay(turn)) view.dataset.drawn = "last";
      if (before) before.replaceWith(view);
      else this.turns.append(view);
      this.views.set(turn.id, view);
    }
    this.drawButton();
  }

  private again(turn: Turn): void {
    if (this.running) return;
    this.views.get(turn.id)?.remove();
    this.views.delete(turn.id);
    void this.ask(turn.id, turn.question);
    this.box.focus();
  }

  private drawButton(): void {
    const label = this.running ? shared().stop : shared().ask;
    if (this.send.title === label) return;
    this.send.title = label;
    this.send.setAttribute("aria-label", label);
    this.send.replaceChildren(icon(this.running ? "stop" : "send"));
  }
}

/** Tell the site's developer what the browser hides from programs. */
function explain(error: TypeError): void {
  // biome-ignore lint/suspicious/noConsole: only the developer can do something about it
  console.error(`Ragstone did not answer. Does its setting serve.widget.origins list ${location.origin}?`, error);
}

import prose from "../styles/prose.css?inline";
import tokens from "../styles/tokens.css?inline";
import { shared as de } from "../words/de";
import { shared as en } from "../words/en";
import { shared as lt } from "../words/lt";
import { shared as ms } from "../words/ms";
import { setLanguage, shared } from "../words/shared";
import { Server } from "./asking";
import { ChatPanel } from "./chat";
import { el, icon } from "./dom";
import { Keeper } from "./kept";
import { type Settings, settingsOf } from "./settings";
import style from "./widget.css?inline";

const NAME = "ragstone-chat";
/** All languages are in the one script. */
const TEXTS = { en, de, lt, ms };

/**
 * The chat on another site: a button, and the panel that it opens.
 *
 * It talks to the API that the page talks to, and shows answers by the same modules. It is no frame, so that it can be
 * as large as its panel, read the site's language, and need no cookie of another site, which browsers block. It has no
 * framework, because a site pays for each byte on each of its pages. A shadow root keeps the site's styles out and its
 * own in; a style sheet that a script constructs needs no exception in the site's content security policy.
 */
class RagstoneChat extends HTMLElement {
  private panel: ChatPanel | null = null;

  start(settings: Settings): void {
    const say = shared();
    const title = settings.title || say.askQuestion;
    const root = this.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(tokens + style + prose);
    root.adoptedStyleSheets = [sheet];
    this.lang = settings.language;
    this.dataset.theme = settings.theme;
    this.dataset.side = settings.side;
    this.setAttribute("role", "complementary");
    this.setAttribute("aria-label", title);
    if (settings.accent) {
      this.style.setProperty("--accent", settings.accent.ground);
      this.style.setProperty("--on-accent", settings.accent.text);
    }
    this.panel = new ChatPanel(new Server(settings.server, settings.tokens), new Keeper(settings.server), title);
    const launcher = el("button", {
      type: "button",
      class: "launcher",
      "aria-label": title,
      "aria-haspopup": "dialog",
    });
    launcher.append(icon("chat"));
    launcher.addEventListener("click", () => this.open());
    root.append(launcher, this.panel.root);
  }

  /** Open the chat; the site's own buttons can call this, too. */
  open(): void {
    this.panel?.open();
  }

  /** Forget the conversation; a site calls this when its visitor signs out. */
  forget(): void {
    this.panel?.forget();
  }
}

const script = document.currentScript;
if (script instanceof HTMLScriptElement && !customElements.get(NAME)) {
  // biome-ignore lint/suspicious/noConsole: only the site's developer can mend its script tag
  const settings = settingsOf(script, (problem) => console.warn(`Ragstone: ${problem}`));
  setLanguage(settings.language, TEXTS[settings.language]);
  customElements.define(NAME, RagstoneChat);
  const chat = document.createElement(NAME) as RagstoneChat;
  chat.start(settings);
  if (document.body) document.body.append(chat);
  else document.addEventListener("DOMContentLoaded", () => document.body.append(chat));
}

import { placeOf, type Target } from "../chat/target";
import { targetsOf } from "../chat/targets";
import { isUnderWay, type Turn, type Vote } from "../chat/turns";
import { safeLink } from "../text/links";
import { type Block, blocksOf } from "../text/markdown";
import { locatedIn, type Passage, type Piece, type Proved, passagesOf, provedOf } from "../text/proof";
import { shared } from "../words/shared/words";
import { el, icon, iconButton } from "./dom";

/** Stores a vote, and returns what to tell of that. */
type OnVote = (vote: Vote) => Promise<string>;

/** Return a question and what is known of its answer so far. */
export function turnView(turn: Turn, onAgain: () => void, onVote: OnVote): HTMLElement {
  const say = shared();
  const targets = targetsOf(turn);
  const sources = turn.answer ? targets.map(sourceView) : [];
  const refused = turn.answer?.abstained && turn.answer.outcome !== "clarification";
  const found = turn.evidence?.hits.length;
  const view = el("article", { class: "turn" }, el("h3", { class: "question" }, turn.question));
  view.setAttribute("aria-busy", String(isUnderWay(turn)));
  if (turn.state === "searching") {
    const told = found === undefined ? say.searching : say.reading(found);
    view.append(el("p", { class: "progress" }, el("span", { class: "pulse", "aria-hidden": "true" }), told));
  }
  if (refused) view.append(refusal(turn, sources));
  else view.append(...written(turn, targets, sources));
  if (turn.state === "stopped") view.append(el("p", { class: "quiet" }, say.stoppedEarly));
  if (turn.state === "failed") {
    view.append(el("p", { class: "notice", role: "alert" }, icon("warn"), el("span", {}, turn.error)));
  }
  if (turn.state === "failed" || turn.state === "stopped") {
    const again = el("button", { type: "button", class: "button" }, icon("again"), say.askAgain);
    again.addEventListener("click", onAgain);
    view.append(again);
  }
  if (turn.state === "done" && turn.answer?.response_id) view.append(voting(turn, onVote));
  return view;
}

/** Thumbs up and down. They tell which of them was given, and what became of it. */
function voting(turn: Turn, onVote: OnVote): HTMLElement {
  const say = shared();
  const said = el("span", { class: "quiet" });
  const thumbs = (["up", "down"] as const).map((vote) => {
    const thumb = iconButton(vote, vote === "up" ? say.goodAnswer : say.badAnswer, async () => {
      const before = thumbs.map((one) => one.getAttribute("aria-pressed") ?? "false");
      for (const one of thumbs) one.setAttribute("aria-pressed", String(one === thumb));
      said.textContent = await onVote(vote);
      if (said.textContent !== say.thanks)
        thumbs.forEach((one, at) => {
          one.setAttribute("aria-pressed", before[at] as string);
        });
    });
    thumb.setAttribute("aria-pressed", String(turn.vote === vote));
    return thumb;
  });
  return el("div", { class: "voting" }, ...thumbs, said);
}

/** A refusal with the closest passages, or the server's own text if it sent none. */
function refusal(turn: Turn, sources: readonly HTMLElement[]): HTMLElement {
  const [first = "", ...rest] = turn.text.split("\n");
  const more = sources.length ? listed(shared().closest, sources) : el("p", { class: "lines" }, rest.join("\n"));
  return el("div", { class: "refusal" }, el("p", {}, first), more);
}

function written(turn: Turn, targets: readonly Target[], sources: readonly HTMLElement[]): HTMLElement[] {
  const { text, answer, sentences } = turn;
  const proofs = answer ? provedOf(text, answer.statements) : locatedIn(text, sentences);
  const blocks = blocksOf(text);
  const unproved = proofs.filter((one) => one.wrong).length;
  const numbers = targets.map((one) => one.marker);
  const cited = sources.filter((_, at) => numbers[at] !== null);
  const passages = passagesOf(text, blocks, proofs);
  const marker = (number: number): HTMLElement | null => {
    const source = sources[numbers.indexOf(number)];
    return source ? markerView(number, source) : null;
  };
  const out: HTMLElement[] = [
    el("div", { class: "prose" }, ...blocks.map((block, at) => blockView(block, passages[at] ?? [], proofs, marker))),
  ];
  if (answer && unproved) {
    const told = shared().unsupported(unproved, proofs.length);
    out.push(el("p", { class: "notice" }, icon("warn"), el("span", {}, told)));
  }
  if (cited.length) out.push(listed(shared().cited, cited));
  return out;
}

function blockView(
  block: Block,
  items: readonly Passage[][],
  proofs: readonly Proved[],
  marker: (number: number) => HTMLElement | null,
): HTMLElement {
  const shown = (item: readonly Passage[] = []) => item.flatMap((passage) => passageView(passage, proofs, marker));
  if (block.kind === "list" || block.kind === "numbers") {
    const rows = items.map((item, at) => el("li", { class: `depth-${block.items[at]?.depth ?? 0}` }, ...shown(item)));
    return block.kind === "list" ? el("ul", {}, ...rows) : el("ol", { start: String(block.first) }, ...rows);
  }
  const tag = block.kind === "code" ? "pre" : block.kind === "heading" ? "h4" : "p";
  return el(tag, {}, ...shown(items[0]));
}

function passageView(
  passage: Passage,
  proofs: readonly Proved[],
  marker: (number: number) => HTMLElement | null,
): (Node | string)[] {
  const words = passage.pieces.map(looking);
  const proved = passage.sentence === null ? undefined : proofs[passage.sentence];
  if (!proved) return words;
  const sentence = el("span", { class: proved.wrong ? "sentence unproved" : "sentence" }, ...words);
  if (!passage.closed) return [sentence];
  const markers = proved.markers.map(marker).filter((one) => one !== null);
  if (!proved.wrong) return [sentence, ...markers];
  const note = el("span", { class: "marker-unproved", title: proved.wrong === "?" ? shared().notSaid : proved.wrong }, shared().notSupported);
  return [sentence, ...markers, note];
}

function looking({ text, look }: Piece): Node | string {
  return look ? el(look === "bold" ? "strong" : look === "italic" ? "em" : "code", {}, text) : text;
}

/** A number that opens the source it stands for. */
function markerView(number: number, source: HTMLElement): HTMLElement {
  const label = shared().citation(number);
  const button = el("button", { type: "button", class: "marker", "aria-label": label }, String(number));
  button.addEventListener("click", () => {
    const details = source.querySelector("details") as HTMLDetailsElement;
    details.open = true;
    details.querySelector("summary")?.focus();
    details.scrollIntoView({ block: "nearest" });
  });
  return button;
}

function listed(label: string, sources: readonly HTMLElement[]): HTMLElement {
  return el(
    "div",
    { class: "sources", role: "group", "aria-label": label },
    el("h4", {}, label),
    el("ul", {}, ...sources),
  );
}

/** A cited or close passage: its document, and when opened its exact words and the document's address on the web. */
function sourceView(target: Target): HTMLElement {
  const place = placeOf(target);
  const link = safeLink(target.url);
  const number = target.marker === null ? null : el("span", { class: "number" }, String(target.marker));
  const summary = el("summary", {}, number, el("span", { class: "title" }, target.title));
  const outside = { target: "_blank", rel: "noopener noreferrer nofollow", referrerpolicy: "no-referrer" };
  const details = el(
    "details",
    {},
    summary,
    el("blockquote", {}, target.quote),
    place && el("p", { class: "quiet" }, place),
    link &&
      el("a", { href: link.href, ...outside }, link.host, el("span", { class: "unseen" }, ` (${shared().newTab})`)),
  );
  return el("li", {}, details);
}

import { proseClass, refused, saidOf } from "../chat/said";
import { placeOf, type Target } from "../chat/target";
import { targetsOf } from "../chat/targets";
import { isUnderWay, type Turn, type Vote } from "../chat/turns";
import { randomId } from "../shell/ids";
import { safeLink } from "../text/links";
import { type Block, blocksOf, type Words } from "../text/markdown";
import { type Flag, type Passage, type Piece, type Proved, passagesOf, toldFlags } from "../text/proof";
import { shared } from "../words/shared";
import { el, icon, iconButton } from "./dom";

/** Stores a vote, and returns what to tell of that. */
type OnVote = (vote: Vote) => Promise<string>;

/** Return a question and what is known of its answer so far. */
export function turnView(turn: Turn, onAgain: () => void, onVote: OnVote): HTMLElement {
  const say = shared();
  const targets = targetsOf(turn);
  const sources = turn.answer ? targets.map(sourceView) : [];
  const found = turn.evidence?.hits.length;
  const view = el("article", { class: "turn" }, el("h3", { class: "question" }, turn.question));
  view.setAttribute("aria-busy", String(isUnderWay(turn)));
  if (turn.state === "searching") {
    const told = found === undefined ? say.searching : say.reading(found);
    view.append(el("p", { class: "progress" }, el("span", { class: "pulse", "aria-hidden": "true" }), told));
  }
  view.append(...written(turn, targets, sources));
  if (turn.state === "stopped") view.append(el("p", { class: "quiet" }, say.stoppedEarly));
  if (turn.state === "failed") {
    const failure = notice(turn.error);
    failure.setAttribute("role", "alert");
    view.append(failure);
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

/** What an answer says and cites; of a refusal, its words and the closest passages. */
function written(turn: Turn, targets: readonly Target[], sources: readonly HTMLElement[]): HTMLElement[] {
  const isRefused = refused(turn);
  const { failed, words, proofs } = saidOf(turn, isRefused && sources.length > 0);
  const blocks = blocksOf(words);
  const flags = toldFlags(proofs, shared());
  const numbers = targets.map((one) => one.marker);
  const cited = sources.filter((_, at) => numbers[at] !== null);
  const nearest = isRefused ? sources.filter((one) => !cited.includes(one)) : [];
  const passages = passagesOf(words, blocks, proofs);
  const shown: Shown = {
    of: (one) => passages.get(one) ?? [],
    sentence: (passage) => sentenceView(passage, proofs),
    marks: ({ closed, sentence }) => {
      const proved = closed && sentence !== null ? proofs[sentence] : undefined;
      const markers = proved?.markers.flatMap((number) => {
        const source = sources[numbers.indexOf(number)];
        return source ? [markerView(number, source)] : [];
      });
      return [...(markers ?? []), ...(proved?.flag ? [flagged(proved.flag)] : [])];
    },
  };
  const prose = el("div", { class: proseClass(turn) }, ...blocks.map((block) => blockView(block, shown)));
  const out: HTMLElement[] = failed ? [notice(failed)] : [];
  if (isRefused)
    out.push(el("div", { class: "refusal" }, prose, nearest.length > 0 && listed(shared().closest, nearest)));
  else out.push(prose);
  if (turn.answer && flags) out.push(notice(flags));
  if (cited.length) out.push(listed(shared().cited, cited));
  return out;
}

const notice = (text: string) => el("p", { class: "notice" }, icon("warn"), el("span", {}, text));

/** How the passages of an answer are shown. */
interface Shown {
  of: (words: Words) => readonly Passage[];
  sentence: (passage: Passage) => (Node | string)[];
  marks: (passage: Passage) => Node[];
}

function blockView(block: Block, shown: Shown): HTMLElement | null {
  const line = (words: Words) => shown.of(words).flatMap((one) => [...shown.sentence(one), ...shown.marks(one)]);
  const inner = (blocks: readonly Block[]) => blocks.map((one) => blockView(one, shown));
  switch (block.kind) {
    case "rule":
      return el("hr");
    case "quote":
      return el("blockquote", {}, ...inner(block.blocks));
    case "list": {
      const items = block.items.map((item) => el("li", {}, ...inner(item)));
      return block.first === null ? el("ul", {}, ...items) : el("ol", { start: String(block.first) }, ...items);
    }
    case "table": {
      const look = (column: number) => (block.right[column] ? "right" : "");
      const head = block.head.map((cell, at) => el("th", { scope: "col", class: look(at) }, ...line(cell)));
      const rows = block.rows.map((row) =>
        el("tr", {}, ...row.map((cell, at) => el("td", { class: look(at) }, ...line(cell)))),
      );
      const top = head.length > 0 && el("thead", {}, el("tr", {}, ...head));
      const table = el("table", {}, top, el("tbody", {}, ...rows));
      return el("section", { class: "grid", "aria-label": shared().table, tabindex: "0" }, table);
    }
    case "code": {
      const passages = shown.of(block.words);
      const code = el("pre", { tabindex: "0" }, ...passages.flatMap(shown.sentence));
      return el("div", {}, code, ...passages.flatMap(shown.marks));
    }
    default: {
      const inside = line(block.words);
      return inside.length ? el(block.kind === "heading" ? "h4" : "p", {}, ...inside) : null;
    }
  }
}

function sentenceView(passage: Passage, proofs: readonly Proved[]): (Node | string)[] {
  const words = passage.pieces.map(looking);
  const proved = passage.sentence === null ? undefined : proofs[passage.sentence];
  return proved ? [el("span", { class: proved.flag ? `sentence ${proved.flag.state}` : "sentence" }, ...words)] : words;
}

const TAGS = { bold: "strong", italic: "em", struck: "s", code: "code" } as const;
/** A formula stays text here, so that the script stays small. */
const looking = ({ text, look }: Piece): Node | string =>
  look && look !== "formula" ? el(TAGS[look], {}, text) : text;

/** The mark of a flagged sentence. The reason appears while the pointer or the focus is on it, until Escape. */
function flagged(flag: Flag): HTMLElement {
  const id = `reason-${randomId()}`;
  const reason = el("span", { class: "reason", role: "tooltip", id }, flag.reason || shared().flags[flag.state]);
  const mark = el(
    "button",
    { type: "button", class: `flag ${flag.state}`, "aria-describedby": id },
    shared().flags[flag.state],
  );
  const whole = el("span", { class: "flagged" }, mark, reason);
  const show = () => {
    reason.hidden = false;
  };
  whole.addEventListener("mouseenter", show);
  mark.addEventListener("focus", show);
  mark.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || reason.hidden) return;
    event.preventDefault();
    event.stopPropagation(); // or it would close the chat
    reason.hidden = true;
  });
  return whole;
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

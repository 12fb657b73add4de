// @vitest-environment happy-dom
import { expect, it } from "vitest";
import { answered, cited, found, hit, stated } from "../chat/samples";
import { fresh, type Turn } from "../chat/turns";
import { turnView } from "./answer";

const HARM = "<img src=x onerror=alert(1)><script>alert(1)</script>";
const done = (turn: Partial<Turn>): Turn => ({ ...fresh("1", "Why?"), state: "done", ...turn });

it("opens the words and the address of a citation", () => {
  const text = "Stone is hard. [1]";
  const statement = stated(0, 18, { markers: [1] });
  const citation = cited(1, { quote: "Stone is hard.", url: "https://stone.example/a" });
  const answer = answered(text, { citations: [citation], statements: [statement] });
  const view = turnView(
    done({ text, answer }),
    () => undefined,
    async () => "",
  );
  expect(view.querySelector(".prose")?.textContent).toBe("Stone is hard.1");
  view.querySelector<HTMLButtonElement>(".marker")?.click();
  expect(view.querySelector("details")?.open).toBe(true);
  expect(view.querySelector("blockquote")?.textContent).toBe("Stone is hard.");
  expect(view.querySelector("a")?.href).toBe("https://stone.example/a");
  expect(view.querySelector("a")?.rel).toContain("noopener");
});

it("marks what the documents do not say", () => {
  const text = "Stone is soft.";
  const statement = stated(0, 14, { state: "contradicted", reason: "the passage says hard" });
  const view = turnView(
    done({ text, answer: answered(text, { statements: [statement] }) }),
    () => undefined,
    async () => "",
  );
  expect(view.querySelector(".sentence.contradicted")?.textContent).toBe(text);
  expect(view.querySelector(".notice")?.textContent).toContain("contradicted");
  const mark = view.querySelector<HTMLButtonElement>("button.flag");
  const reason = view.querySelector<HTMLElement>(".reason");
  expect([mark?.getAttribute("aria-describedby"), reason?.textContent]).toEqual([reason?.id, "the passage says hard"]);
  const pressed = new KeyboardEvent("keydown", { key: "Escape", cancelable: true });
  mark?.dispatchEvent(pressed);
  expect([reason?.hidden, pressed.defaultPrevented]).toEqual([true, true]);
});

it("draws tables, nested lists, quotations and code", () => {
  const text = "| a | b |\n|--|--|\n| c | d [1] |\n\n1. e\n   - ~~f~~\n\n> g\n\n```\nh\n```";
  const at = text.indexOf("| c");
  const statements = [stated(at, text.indexOf("\n\n1."), { markers: [1] })];
  const answer = answered(text, { statements, citations: [cited(1)] });
  const prose = turnView(
    done({ text, answer }),
    () => undefined,
    async () => "",
  ).querySelector(".prose");
  const texts = (selector: string) => [...(prose?.querySelectorAll(selector) ?? [])].map((one) => one.textContent);
  expect([texts("th"), texts("td"), texts("td .marker")]).toEqual([["a", "b"], ["c", "d1"], ["1"]]);
  expect([texts("ol > li > ul > li s"), texts("blockquote p"), texts("pre")]).toEqual([["f"], ["g"], ["h"]]);
});

it("shows a refusal with the closest passages", () => {
  const text = "Nothing was found.\n\n- About stone: It is old.";
  const answer = answered(text, { outcome: "refusal", abstained: true });
  const view = turnView(
    done({ text, answer, evidence: found(hit("Stone. It is old.")) }),
    () => undefined,
    async () => "",
  );
  expect(view.querySelector(".refusal p")?.textContent).toBe("Nothing was found.");
  expect(view.querySelector("blockquote")?.textContent).toBe("It is old.");
});

it.each([
  "javascript:alert(1)",
  "JAVASCRIPT:alert(1)",
  "data:text/html,x",
  "https://a:b@evil.example/",
  "//evil.example",
])("makes no link of %s", (url) => {
  const answer = answered("A [1]", { citations: [cited(1, { url })] });
  expect(
    turnView(
      done({ text: "A [1]", answer }),
      () => undefined,
      async () => "",
    ).querySelector("a"),
  ).toBeNull();
});

it("shows markup from anywhere as text", () => {
  const citation = cited(1, { quote: HARM, title: HARM, section: HARM, page: HARM });
  const answer = answered(`${HARM} [1]`, { citations: [citation] });
  const view = turnView(
    done({ question: HARM, text: `${HARM} [1]`, answer }),
    () => undefined,
    async () => "",
  );
  expect(view.querySelectorAll("img, script, [onerror]")).toHaveLength(0);
  expect(view.textContent?.split(HARM).length).toBeGreaterThan(4);
});

it("votes once an answer is complete, and says what became of it", async () => {
  const given: string[] = [];
  const vote = async (one: string) => {
    given.push(one);
    return given.length < 2 ? "Thank you for your feedback." : "Too many opinions.";
  };
  const view = turnView(done({ text: "A", answer: answered("A", { response_id: "r" }) }), () => undefined, vote);
  const [up, down] = [...view.querySelectorAll<HTMLButtonElement>(".voting button")] as [
    HTMLButtonElement,
    HTMLButtonElement,
  ];
  up.click();
  await new Promise(setImmediate);
  expect([up, down].map((one) => one.getAttribute("aria-pressed"))).toEqual(["true", "false"]);
  down.click();
  await new Promise(setImmediate);
  expect(given).toEqual(["up", "down"]);
  expect([up, down].map((one) => one.getAttribute("aria-pressed"))).toEqual(["true", "false"]);
  expect(view.querySelector(".voting")?.textContent).toBe("Too many opinions.");
  expect(turnView(fresh("1", "Why?"), () => undefined, vote).querySelector(".voting")).toBeNull();
});

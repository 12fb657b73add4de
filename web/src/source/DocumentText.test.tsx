// @vitest-environment happy-dom
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it } from "vitest";
import { DocumentText } from "./DocumentText";

afterEach(cleanup);
const marked = () => [...document.querySelectorAll("mark")].map((one) => one.textContent);

it("highlights cited words after surrogate pairs", () => {
  const text = "🪨🧱 Before.\n\n👩‍👩‍👧 The words. After.";
  const start = Array.from(text.slice(0, text.indexOf("The"))).length;
  render(
    <DocumentText
      text={text}
      marks={[]}
      spans={[
        { start, end: start + 10 },
        { start: 3, end: 10 },
      ]}
    />,
  );
  expect(marked()).toEqual(["The words."]);
  expect(document.querySelector(".also-cited")?.textContent).toBe("Before.");
});

it("shows a document as text", () => {
  render(<DocumentText text={'<b onclick="x()">no</b> ![i](http://a.example/i)'} marks={[]} spans={[]} />);
  expect(document.querySelector("b, img")).toBeNull();
  expect(document.body.textContent).toContain("<b onclick");
});

it("shows inline Markdown as elements, cited or not", () => {
  const text = "Options:\n\n- `--dry-run` shows **what would** change\n- `--force` *does* it";
  const spans = [
    { start: text.indexOf("`--dry"), end: text.indexOf(" would") },
    { start: text.indexOf("- `--force"), end: text.length },
  ];
  render(<DocumentText text={text} marks={[]} spans={spans} isMarkdown />);
  expect(marked()).toEqual(["--dry-run shows what"]);
  expect(document.querySelector(".also-cited")?.textContent).toBe("• --force does it");
  const inside = [...document.querySelectorAll("mark > *")].map((one) => [one.localName, one.textContent]);
  expect(inside).toEqual([
    ["code", "--dry-run"],
    ["strong", "what"],
  ]);
  expect(document.body.textContent).toBe("Options:• --dry-run shows what would change\n• --force does it");
});

it("shows HTML in Markdown as text", () => {
  render(<DocumentText text={"**<img src=x>** [`y`](javascript:alert(1))"} marks={[]} spans={[]} isMarkdown />);
  expect(document.querySelector("img, a")).toBeNull();
  expect(document.body.textContent).toBe("<img src=x> [y](javascript:alert(1))");
});

it("scrolls to words cited from the signs of their heading", () => {
  const seen: string[] = [];
  Element.prototype.scrollIntoView = function () {
    seen.push(`${this.localName} ${this.textContent}`);
  };
  const heading = { kind: "heading" as const, start: 0, end: 8, level: 2, label: "Stone", header: 0 };
  render(<DocumentText text={"## Stone\n\nIt is old."} marks={[heading]} spans={[{ start: 0, end: 12 }]} />);
  expect(seen).toEqual(["mark Stone"]);
});

it("shows part of a long document, and more on request", async () => {
  const text = Array.from({ length: 60 }, (_, n) => `Paragraph number ${n}.${" and on".repeat(100)}`).join("\n\n");
  const start = text.indexOf("number 30.");
  render(<DocumentText text={text} marks={[]} spans={[{ start, end: start + 10 }]} />);
  expect(marked()).toEqual(["number 30."]);
  expect(screen.queryByText(/number 0\./)).toBeNull();
  await userEvent.click(screen.getByRole("button", { name: "Show earlier text" }));
  expect(screen.getByText(/number 0\./)).toBeTruthy();
});

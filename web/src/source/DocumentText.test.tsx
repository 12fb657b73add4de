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

it("shows part of a long document, and more on request", async () => {
  const text = Array.from({ length: 60 }, (_, n) => `Paragraph number ${n}.${" and on".repeat(100)}`).join("\n\n");
  const start = text.indexOf("number 30.");
  render(<DocumentText text={text} marks={[]} spans={[{ start, end: start + 10 }]} />);
  expect(marked()).toEqual(["number 30."]);
  expect(screen.queryByText(/number 0\./)).toBeNull();
  await userEvent.click(screen.getByRole("button", { name: "Show earlier text" }));
  expect(screen.getByText(/number 0\./)).toBeTruthy();
});

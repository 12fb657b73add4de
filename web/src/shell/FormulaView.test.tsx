// @vitest-environment happy-dom
import { cleanup, render, waitFor } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { Looking } from "./Looking";

// KaTeX draws nothing in quirks mode, and the documents of the tests have no mode.
Object.defineProperty(document, "compatMode", { value: "CSS1Compat" });
afterEach(cleanup);

const drawn = (text: string) => render(<Looking text={text} look="formula" />).container;

it("draws a formula as MathML", async () => {
  const page = drawn("$\\frac{a}{b_1} \\le \\sqrt[3]{8}$");
  expect(page.textContent).toBe("$\\frac{a}{b_1} \\le \\sqrt[3]{8}$");
  await waitFor(() => expect(page.querySelectorAll("math mfrac msub, math mroot")).toHaveLength(2));
});

it.each(["$\\unknown{x}$", "$x^{2$"])("leaves %s as it is", async (text) => {
  const page = drawn(text);
  await import("katex");
  await new Promise((done) => setTimeout(done));
  expect(page.textContent).toBe(text);
});

it.each([
  "$\\href{javascript:alert(1)}{x}$",
  "$\\includegraphics{http://evil.example/x.png}$",
  "$\\def\\a{\\a\\a}\\a$",
])("shows nothing of %s that links, loads or never ends", async (text) => {
  const page = drawn(text);
  await import("katex");
  await new Promise((done) => setTimeout(done));
  expect(page.querySelector("a, img, [href], [src]")).toBeNull();
});

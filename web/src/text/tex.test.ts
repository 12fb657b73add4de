import { expect, it } from "vitest";
import { type Drawn, drawnOf } from "./tex";

/** MathML as text, without attributes. */
const shown = (one: Drawn | string | null): string =>
  one === null || typeof one === "string"
    ? String(one)
    : one.children.length
      ? `<${one.name}>${one.children.map(shown).join("")}</${one.name}>`
      : `<${one.name}/>`;

it.each([
  ["$x^2$", "<math><msup><mi>x</mi><mn>2</mn></msup></math>"],
  ["\\(\\frac{a}{b_1}\\)", "<math><mfrac><mi>a</mi><msub><mi>b</mi><mn>1</mn></msub></mfrac></math>"],
  ["$\\sqrt[3]{8} = 2$", "<math><mroot><mn>8</mn><mn>3</mn></mroot><mo>=</mo><mn>2</mn></math>"],
  ["$\\alpha \\le \\text{rate}$", "<math><mi>α</mi><mo>≤</mo><mtext>rate</mtext></math>"],
  ["$f'$", "<math><msup><mi>f</mi><mo>′</mo></msup></math>"],
  [
    "$$\\sum_{i=1}^n i$$",
    "<math><munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover><mi>i</mi></math>",
  ],
  [
    "\\[\\left(\\begin{matrix}1 & 2\\\\3 & 4\\end{matrix}\\right)\\]",
    "<math><mrow><mo>(</mo><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr>" +
      "<mtr><mtd><mn>3</mn></mtd><mtd><mn>4</mn></mtd></mtr></mtable><mo>)</mo></mrow></math>",
  ],
])("draws %s", (tex, wanted) => {
  expect(shown(drawnOf(tex))).toBe(wanted);
});

it.each([
  "$\\unknown{x}$",
  "$x^{2$",
  "$x}$",
  "$\\frac{a$",
  "$\\href{javascript:alert(1)}{x}$",
  "$5, not $",
  "$20$",
  "no formula",
  "$\\text{<img src=x>\\x}$",
])("leaves %s as it is", (text) => {
  expect(drawnOf(text)).toBeNull();
});

it("takes linear time", () => {
  const began = performance.now();
  for (const part of ["{", "x^{", "\\frac{1}{", "\\left(", "\\begin{matrix}"]) drawnOf(`$${part.repeat(300)}$`);
  expect(performance.now() - began).toBeLessThan(500);
});

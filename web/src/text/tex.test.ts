import { expect, it } from "vitest";
import { formulaOf } from "./tex";

it.each([
  ["$x^2$", "x^2", false],
  ["$-f'$", "-f'", false],
  ["\\(\\frac{a}{b_1}\\)", "\\frac{a}{b_1}", false],
  ["$$\\sum_{i=1}^n i$$", "\\sum_{i=1}^n i", true],
  ["\\[a + b\\]", "a + b", true],
])("reads %s as a formula", (text, tex, isBlock) => {
  expect(formulaOf(text)).toEqual({ tex, isBlock });
});

it.each(["$5, not $", "$20$", "no formula"])("leaves %s as it is", (text) => {
  expect(formulaOf(text)).toBeNull();
});

import { expect, it } from "vitest";
import { nearestOf } from "./nearest";
import { hit } from "./samples";

const REFUSAL =
  'I couldn\'t find an answer to "x?" in these documents.\nClosest passages:\n- About stone: Stone (old) is +grey …\n- Gone: Nothing';

it("opens a refusal's passages at their sentence", () => {
  const [target, ...more] = nearestOf(REFUSAL, [
    hit("No."),
    hit("🪨 first.\nStone (old)\nis +grey today\nand dry. More.", { start: 100 }),
  ]);
  expect(more).toEqual([]);
  expect(target).toMatchObject({ start: 109, end: 144, quote: "Stone (old)\nis +grey today\nand dry." });
});

it("falls back to the best passages", () => {
  expect(nearestOf("No.", [hit("a"), hit("b"), hit("c"), hit("d")]).map((one) => one.quote)).toEqual(["a", "b", "c"]);
});

it("finds sentences whose tags the refusal leaves out", () => {
  const planted = hit("Sand <script>take()</script> is made of grains. More.", { title: "<img src=x> Sand" });
  const [target] = nearestOf("No.\n- Sand: Sand take() is made of grains.", [hit("Other."), planted]);
  expect(target?.quote).toBe("Sand <script>take()</script> is made of grains.");
});

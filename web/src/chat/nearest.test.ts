import { expect, it } from "vitest";
import { nearestOf } from "./nearest";
import { hit } from "./samples";

const REFUSAL =
  "The documents do not seem to tell: x?\nNearest to it:\n- About stone: Stone (old) is +grey …\n- Gone: Nothing";

it("opens a refusal's passages at the very sentence, counted as Python counts", () => {
  const [target, ...more] = nearestOf(REFUSAL, [
    hit("No."),
    hit("🪨 first.\nStone (old)\nis +grey today\nand dry. More.", { start: 100 }),
  ]);
  expect(more).toEqual([]);
  expect(target).toMatchObject({ start: 109, end: 144, quote: "Stone (old)\nis +grey today\nand dry." });
});

it("shows the best passages where no sentence is found", () => {
  expect(nearestOf("No.", [hit("a"), hit("b"), hit("c"), hit("d")]).map((one) => one.quote)).toEqual(["a", "b", "c"]);
});

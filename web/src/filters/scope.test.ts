import { expect, it } from "vitest";
import { both, confined, shownFilter } from "./scope";

const one = { id: 'a/b "c".md', title: "C" };
const two = { id: "d.md", title: "D" };

it("confines questions to documents, and shows their names", () => {
  expect(confined([], 'lang = "de"')).toBe('lang = "de"');
  expect(confined([one], "")).toBe('id = "a/b \\"c\\".md"');
  expect(confined([one, two], "lang = 1 or x = 2")).toBe('id in ("a/b \\"c\\".md", "d.md") and (lang = 1 or x = 2)');
  expect(shownFilter(confined([one, two], "y = 1"))).toBe('b "c".md, d.md and (y = 1)');
  expect(shownFilter('lang = "de"')).toBe('lang = "de"');
});

it("shows the filter of a collection by its name", () => {
  const all = [{ name: "Reports", where: "kind == pdf", groups: null, questions: [] }];
  expect(shownFilter("kind == pdf", all)).toBe("Reports");
  expect(shownFilter(both("kind == pdf", "year = 2024"), all)).toBe("Reports · year = 2024");
  expect(shownFilter(both("kind == pdf", confined([two], "")), all)).toBe("Reports · d.md");
  expect(shownFilter("kind == md", all)).toBe("kind == md");
});

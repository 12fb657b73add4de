import { expect, it } from "vitest";
import { fieldsOf, NO_FILTER, whereOf } from "./where";

const FIELDS = fieldsOf([
  { lang: "en", year: 2024, code: "007" },
  { lang: "de", year: 2025, tags: ["a", "b"], done: true },
]);

it("writes conditions in the filter language", () => {
  const conditions = [
    { field: "lang", operator: "=" as const, value: 'e"n\\' },
    { field: "year", operator: ">=" as const, value: "2024" },
    { field: "code", operator: "!=" as const, value: "7" },
    { field: "done", operator: "=" as const, value: "true" },
    { field: "", operator: "=" as const, value: "left out" },
  ];
  expect(whereOf({ conditions, written: "" }, FIELDS)).toBe(
    'lang = "e\\"n\\\\" and year >= 2024 and code != "7" and done = true',
  );
  expect(whereOf({ conditions: conditions.slice(1, 2), written: "a = 1 or b = 2" }, FIELDS)).toBe(
    "year >= 2024 and (a = 1 or b = 2)",
  );
  expect(whereOf(NO_FILTER, FIELDS)).toBe("");
});

it("collects the values of fields", () => {
  expect(FIELDS.get("tags")?.values).toEqual(["a", "b"]);
  expect(FIELDS.get("lang")).toEqual({ values: ["de", "en"], bare: false });
});

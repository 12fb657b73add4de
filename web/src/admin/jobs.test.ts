// @vitest-environment happy-dom
import { expect, it } from "vitest";
import type { Job } from "../api/types";
import { resultOf } from "./JobsView";
import { every } from "./SourcesTable";

const over = (documents: number, report: object | null) => ({ progress: { documents }, report }) as Job;

it.each([
  [over(0, { unchanged: 27, removed: 0 }), "27 unchanged"],
  [over(1, { unchanged: 1027, removed: 2 }), "1 document, 1,027 unchanged, 2 removed"],
  [over(0, { unchanged: 0, removed: 0 }), "0 documents"],
  [over(3, null), "3 documents"],
])("tells what a job stored, and what it left as it was", (job, told) => {
  expect(resultOf(job)).toBe(told);
});

it("tells how often a source is synced", () => {
  expect([3600, 6 * 3600, 86_400, 7 * 86_400, 60].map(every)).toEqual([
    "every hour",
    "every 6 hours",
    "every day",
    "every 7 days",
    "every minute",
  ]);
});

import { expect, it } from "vitest";
import type { Job } from "../api/types";
import { outcome, step } from "./useUploads";

const report = {
  added: 1,
  updated: 0,
  unchanged: 0,
  removed: 0,
  skipped: [],
  decoded: [],
  chunks: 1,
  embedded: 1,
  seconds: 1,
  notices: [],
};
const job = (more: Partial<NonNullable<Job["report"]>>, ids = ["uploads/a.docx"]): Job =>
  ({ state: "done", error: null, document_ids: ids, report: { ...report, ...more } }) as Job;

it.each([
  ["waiting", "", "queued"],
  ["running", "process 7 (ragstone)", "locked"],
  ["running", "", "reading"],
] as const)("shows a job that is %s (%s) as %s", (state, waiting, shown) => {
  expect(step({ state, progress: { waiting } } as Job)).toBe(shown);
});

it("says what was left out of an uploaded file", () => {
  const decoded = [{ source: "uploads/a.docx", note: "read only in part: 2 charts were left out" }];
  expect(outcome(job({ decoded }))).toBe("Ready for questions; read only in part: 2 charts were left out");
  expect(outcome(job({}))).toBe("");
});

it("says that an uploaded file is hidden", () => {
  const notices = ["1 document is hidden from everyone except administrators"];
  expect(outcome(job({ notices }))).toBe(`Ready for questions; ${notices[0]}`);
});

it("fails for a file that gave no document", () => {
  const skipped = [{ source: "uploads/a.docx", reason: "not added: it names the group 'hr'" }];
  expect(() => outcome(job({ skipped }, []))).toThrow("not added");
});

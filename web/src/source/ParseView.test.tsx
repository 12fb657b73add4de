// @vitest-environment happy-dom
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import type { StoredDocument } from "../api/types";
import { ParseView } from "./ParseView";

afterEach(cleanup);

const read = (seconds: number | null): StoredDocument => ({
  document_id: "a.pdf",
  title: "A",
  url: "",
  source: "a.pdf",
  metadata: {},
  characters: 5,
  marks: [],
  reading: {
    kind: "pdf",
    characters: 5,
    pages: 1,
    headings: 0,
    tables: 0,
    code: 0,
    pictures: 0,
    ocr: "",
    ocr_confidence: null,
    note: "",
    ocr_pages: [],
    chunks: [{ start: 0, end: 5 }],
    seconds,
  },
  text: "words",
  highlight: null,
});

it.each([
  [12.34, "Time to read it: 12.3 s"],
  [null, "Time to read it: not measured"],
])("tells how long reading took (%s)", (seconds, told) => {
  render(<ParseView document={read(seconds)} onChunk={() => undefined} />);
  expect(screen.getByText(told)).toBeTruthy();
});

import type { Answer, Citation, EvidenceEvent, Hit, Statement } from "../api/types";

/** Complete records for tests. */
export const cited = (marker: number, more: Partial<Citation> = {}): Citation => ({
  marker,
  document_id: "/docs/stone.md",
  chunk_id: `c${marker}`,
  start: 0,
  end: 5,
  quote: "Stone",
  title: "About stone",
  url: "",
  section: "",
  page: "",
  described_by: "",
  ...more,
});

export const stated = (start: number, end: number, more: Partial<Statement> = {}): Statement => ({
  start,
  end,
  state: "supported",
  support: 1,
  markers: [],
  reason: "",
  ...more,
});

export const hit = (text: string, more: Partial<Hit> = {}): Hit => ({
  rank: 1,
  score: 1,
  document_id: "/docs/stone.md",
  chunk_id: "c1",
  title: "About stone",
  url: "",
  start: 0,
  end: Array.from(text).length,
  text,
  metadata: {},
  why: null,
  ...more,
});

export const found = (...hits: Hit[]): EvidenceEvent => ({
  hits,
  method: "hybrid",
  language: "en",
  missing: [],
  notices: [],
});

export const answered = (answer: string, more: Partial<Answer> = {}): Answer => ({
  response_id: "r1",
  question: "Why?",
  answer,
  kind: "question",
  outcome: "answer",
  abstained: false,
  sources: [],
  confidence: 0.8,
  answerability: 0.8,
  support: 1,
  rightness: 0.8,
  model: "extractive",
  judge_scores: null,
  retrieval_method: "hybrid",
  web_search_triggered: false,
  timestamp: "2026-11-22T08:00:00+00:00",
  citations: [],
  statements: [],
  timings_ms: { total: 12 },
  usage: {
    embedded_texts: 0,
    embedding_calls: 0,
    embedding_tokens: 0,
    cached: [],
    prompt_tokens: 0,
    completion_tokens: 0,
    model_calls: 0,
    cost: 0,
  },
  notices: [],
  policy: 0,
  failed: false,
  steps: [],
  sent: [],
  hits: null,
  ...more,
});

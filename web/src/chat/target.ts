import type { Citation, Hit, Listed } from "../api/types";
import type { Cited } from "../shell/route";
import { shared } from "../words/shared";

const OUTSIDE = /^(web|tool):/;
const ATTACHED = "uploads/conversations/";

/** A place in a document that can be opened next to the answer. */
export interface Target {
  /** The number of the citation, if it is one. */
  marker: number | null;
  documentId: string;
  /** The id of the passage; empty if the target is none. */
  chunkId: string;
  /** Whether it is attached to the conversation. */
  isAttached: boolean;
  start: number;
  end: number;
  title: string;
  url: string;
  section: string;
  page: string;
  quote: string;
  /** The passage around it, if the document itself is not stored. */
  passage: Hit | null;
}

export function ofCitation(one: Citation, hits: readonly Hit[]): Target {
  return {
    marker: one.marker,
    documentId: one.document_id,
    chunkId: one.chunk_id,
    isAttached: one.document_id.startsWith(ATTACHED),
    start: one.start,
    end: one.end,
    title: one.title || nameOf(one.document_id),
    url: one.url,
    section: one.section,
    page: one.page,
    quote: one.quote,
    passage: hits.find((hit) => hit.chunk_id === one.chunk_id) ?? null,
  };
}

export function ofHit(hit: Hit): Target {
  return {
    marker: null,
    documentId: hit.document_id,
    chunkId: hit.chunk_id,
    isAttached: hit.document_id.startsWith(ATTACHED),
    start: hit.start,
    end: hit.end,
    title: hit.title || nameOf(hit.document_id),
    url: hit.url,
    section: "",
    page: "",
    quote: hit.text,
    passage: hit,
  };
}

/** Return a target for a whole document. */
export function ofListed(one: Listed): Target {
  const title = one.title || nameOf(one.document_id);
  const nowhere = {
    marker: null,
    chunkId: "",
    isAttached: false,
    start: 0,
    end: 0,
    section: "",
    page: "",
    quote: "",
    passage: null,
  };
  return { ...nowhere, documentId: one.document_id, title, url: one.url };
}

/** Return a target for a place that an address names. */
export function ofPlace({ documentId, start, end }: Cited): Target {
  const unknown = {
    marker: null,
    chunkId: "",
    isAttached: false,
    url: "",
    section: "",
    page: "",
    quote: "",
    passage: null,
  };
  return { ...unknown, documentId, title: "", start, end };
}

/** Return whether it is a web page or the result of a tool, which are not stored. */
export const isOutside = (target: Target): boolean => OUTSIDE.test(target.chunkId);

/** Return the last part of an id, which may be a path. */
export const nameOf = (id: string): string => id.split(/[\\/]/).at(-1) || id;

/** Return section and page in words. */
export function placeOf(target: Pick<Target, "section" | "page">): string {
  const parts = [target.section.split(" > ").slice(1).join(" › ") || target.section];
  if (target.page) parts.push(shared().onPage(target.page));
  return parts.filter(Boolean).join(" · ");
}

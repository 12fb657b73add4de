import { useEffect, useState } from "react";
import { api } from "../api/client";
import type { Suggestion } from "../api/types";

/** Where suggested questions come from: near a character of a document, or documents that match a filter. */
export interface Near {
  documentId?: string;
  start?: number;
  where?: string;
}

/** Questions that documents answer; none until they are there. */
export function useSuggestions(count: number, { documentId, start, where }: Near): readonly Suggestion[] {
  const [found, setFound] = useState<readonly Suggestion[]>([]);
  useEffect(() => {
    setFound([]);
    const stopper = new AbortController();
    const near = documentId === undefined ? { where: where ?? "" } : { document_id: documentId, start: start ?? 0 };
    api
      .suggestions({ count, ...near }, stopper.signal)
      .then(setFound)
      .catch(() => undefined); // without suggestions, then
    return () => stopper.abort();
  }, [count, documentId, start, where]);
  return found;
}

import { useEffect, useState } from "react";
import { api } from "../api/client";
import type { Suggestion } from "../api/types";

/** Questions that documents answer, for the start or near a character of one document; none until they are there. */
export function useSuggestions(count: number, documentId?: string, start = 0): readonly Suggestion[] {
  const [found, setFound] = useState<readonly Suggestion[]>([]);
  useEffect(() => {
    setFound([]);
    const stopper = new AbortController();
    const near = documentId === undefined ? {} : { document_id: documentId, start };
    api
      .suggestions({ count, ...near }, stopper.signal)
      .then(setFound)
      .catch(() => undefined); // without suggestions, then
    return () => stopper.abort();
  }, [count, documentId, start]);
  return found;
}

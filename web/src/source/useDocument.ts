import { useEffect, useState } from "react";
import { api } from "../api/client";
import { told } from "../api/errors";
import type { StoredDocument } from "../api/types";

const MOST = 8;
const kept = new Map<string, StoredDocument>();

/** Documents change: what was uploaded or deleted is read again. */
export const forgetDocuments = (): void => kept.clear();

interface Reading {
  document: StoredDocument | null;
  error: string;
}

/** A stored document; the last few stay at hand, so that going from citation to citation does not wait. */
export function useDocument(id: string | null): Reading {
  const [reading, setReading] = useState<Reading>({ document: null, error: "" });
  useEffect(() => {
    const held = id === null ? undefined : kept.get(id);
    setReading({ document: held ?? null, error: "" });
    if (id === null || held) return;
    const stopper = new AbortController();
    api
      .document(id, stopper.signal)
      .then((document) => {
        kept.set(id, document);
        if (kept.size > MOST) kept.delete(kept.keys().next().value as string);
        setReading({ document, error: "" });
      })
      .catch((error) => {
        if (!stopper.signal.aborted) setReading({ document: null, error: told(error) });
      });
    return () => stopper.abort();
  }, [id]);
  return reading.document && reading.document.document_id !== id ? { document: null, error: "" } : reading;
}

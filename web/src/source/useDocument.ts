import { useEffect, useState } from "react";
import { api } from "../api/client";
import { told } from "../api/errors";
import type { StoredDocument } from "../api/types";

const MOST = 8;
const kept = new Map<string, StoredDocument>();

/** Forget loaded documents after an upload or a deletion. */
export const forgetDocuments = (): void => kept.clear();

interface Reading {
  document: StoredDocument | null;
  error: string;
}

/** Load a stored document. The last few are cached, so that moving between citations is instant. */
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

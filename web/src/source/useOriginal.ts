import { useEffect, useState } from "react";
import { api } from "../api/client";
import type { Original } from "../api/types";

const MOST = 40;
const kept = new Map<string, Original>();

export const forgetOriginals = (): void => kept.clear();

interface Known {
  original: Original | null;
  /** Whether the answer of the server is still awaited. */
  awaited: boolean;
}

/** What is known of the file of a document, and where the characters `start` to `end` stand on its pages. */
export function useOriginal(id: string | null, start: number, end: number): Known {
  const key = id === null ? "" : `${start} ${end} ${id}`;
  const [found, setFound] = useState<{ key: string; original: Original | null }>({ key: "", original: null });
  useEffect(() => {
    if (id === null || kept.has(key)) return;
    const stopper = new AbortController();
    api
      .places(id, start, end, stopper.signal)
      .then((original) => {
        kept.set(key, original);
        if (kept.size > MOST) kept.delete(kept.keys().next().value as string);
        setFound({ key, original });
      })
      .catch(() => !stopper.signal.aborted && setFound({ key, original: null })); // its text is shown, then
    return () => stopper.abort();
  }, [id, start, end, key]);
  const original = kept.get(key) ?? (found.key === key ? found.original : null);
  return { original, awaited: id !== null && !original && found.key !== key };
}

import { useCallback, useEffect, useState } from "react";
import { api } from "../api/client";
import { told } from "../api/errors";
import type { Listed } from "../api/types";

interface Listing {
  documents: readonly Listed[];
  total: number | null;
  next: string | null;
  error: string;
}

const PAUSE = 200;

/** List the documents whose names match, page by page; reload when `version` changes. */
export function useListing(q: string, version: number) {
  const [listing, setListing] = useState<Listing>({ documents: [], total: null, next: null, error: "" });

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new version needs a new listing
  useEffect(() => {
    const stopper = new AbortController();
    const soon = setTimeout(
      () => {
        api
          .documents(q, undefined, undefined, stopper.signal)
          .then((found) => setListing({ ...found, error: "" }))
          .catch((error) => !stopper.signal.aborted && setListing((held) => ({ ...held, error: told(error) })));
      },
      q ? PAUSE : 0,
    );
    return () => {
      clearTimeout(soon);
      stopper.abort();
    };
  }, [q, version]);

  const more = useCallback(async () => {
    if (!listing.next) return;
    try {
      const found = await api.documents(q, listing.next);
      setListing((held) => ({ ...found, documents: [...held.documents, ...found.documents], error: "" }));
    } catch (error) {
      setListing((held) => ({ ...held, error: told(error) }));
    }
  }, [listing.next, q]);

  return { ...listing, more };
}

import { useCallback, useEffect, useState } from "react";
import { api } from "../api/client";
import { told } from "../api/errors";
import type { Listed } from "../api/types";

export type Order = "newest" | "oldest" | "id";

interface Listing {
  documents: readonly Listed[];
  total: number | null;
  next: string | null;
  error: string;
}

const PAUSE = 200;
const PAGE = 50;
/** The most that the server lists in the order of time, which has no further pages. */
const MOST = 500;

/** List the documents whose names match, page by page; reload when `version` changes. */
export function useListing(q: string, order: Order, version: number) {
  const [listing, setListing] = useState<Listing>({ documents: [], total: null, next: null, error: "" });
  const [limit, setLimit] = useState(PAGE);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another search or order begins at the first page
  useEffect(() => setLimit(PAGE), [q, order]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new version needs a new listing
  useEffect(() => {
    const stopper = new AbortController();
    const soon = setTimeout(
      () => {
        api
          .documents({ q, order, limit: order === "id" ? PAGE : limit }, stopper.signal)
          .then((found) => setListing({ ...found, error: "" }))
          .catch((error) => !stopper.signal.aborted && setListing((held) => ({ ...held, error: told(error) })));
      },
      q ? PAUSE : 0,
    );
    return () => {
      clearTimeout(soon);
      stopper.abort();
    };
  }, [q, order, limit, version]);

  const more = useCallback(async () => {
    if (order !== "id") {
      setLimit((held) => Math.min(MOST, 5 * held));
      return;
    }
    if (!listing.next) return;
    try {
      const found = await api.documents({ q, order, after: listing.next, limit: PAGE });
      setListing((held) => ({ ...found, documents: [...held.documents, ...found.documents], error: "" }));
    } catch (error) {
      setListing((held) => ({ ...held, error: told(error) }));
    }
  }, [listing.next, q, order]);

  const hasMore =
    order === "id" ? listing.next !== null : listing.documents.length < Math.min(listing.total ?? 0, MOST);
  return { ...listing, hasMore, more };
}

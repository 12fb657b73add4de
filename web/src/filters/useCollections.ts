import { useEffect, useState } from "react";
import { api } from "../api/client";
import type { Collection } from "../api/types";

/** The collections that the reader may choose; none until they are loaded. */
export function useCollections(): readonly Collection[] {
  const [found, setFound] = useState<readonly Collection[]>([]);
  useEffect(() => {
    api
      .collections()
      .then(setFound)
      .catch(() => undefined); // without collections, then
  }, []);
  return found;
}

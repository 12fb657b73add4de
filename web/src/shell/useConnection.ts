import { useCallback, useEffect, useState } from "react";
import { api, onRefused } from "../api/client";
import { ApiError, told } from "../api/errors";
import type { Me } from "../api/types";

export interface Connection {
  me: Me | null;
  /** Why the server refused; empty if it did not. */
  refused: string;
  /** Why the server could not be reached. */
  lost: string;
  /** Counts changes of the key. */
  version: number;
  connect: () => void;
  /** Dismiss the refusal. */
  heard: () => void;
}

/** The caller, and whether the server accepts the key. */
export function useConnection(): Connection {
  const [me, setMe] = useState<Me | null>(null);
  const [refused, setRefused] = useState("");
  const [lost, setLost] = useState("");
  const [version, setVersion] = useState(0);

  const connect = useCallback(() => setVersion((held) => held + 1), []);
  const heard = useCallback(() => setRefused(""), []);
  useEffect(() => onRefused(setRefused), []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another key needs another request
  useEffect(() => {
    let current = true;
    api
      .me()
      .then((found) => {
        if (!current) return;
        setMe(found);
        setRefused("");
        setLost("");
      })
      .catch((error) => {
        if (!current) return;
        setMe(null);
        if (!(error instanceof ApiError)) setLost(told(error));
      });
    return () => {
      current = false;
    };
  }, [version]);
  return { me, refused, lost, version, connect, heard };
}

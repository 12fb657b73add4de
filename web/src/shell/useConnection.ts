import { useCallback, useEffect, useState } from "react";
import { api, changeCaller, onRefused, sameCaller } from "../api/client";
import { ApiError, told } from "../api/errors";
import type { Me, SignInWays } from "../api/types";

export interface Connection {
  me: Me | null;
  /** Why the server refused; empty if it did not. */
  refused: string;
  /** How people can sign in, once the server refused; null if there are only keys. */
  ways: SignInWays | null;
  /** Why the server could not be reached. */
  lost: string;
  /** Counts changes of the key. */
  version: number;
  connect: () => void;
  /** Dismiss the refusal. */
  heard: () => void;
}

/** The caller, and whether the server accepts the key; asked again in another view, as what it offers may have changed. */
export function useConnection(view: string): Connection {
  const [me, setMe] = useState<Me | null>(null);
  const [refused, setRefused] = useState("");
  const [ways, setWays] = useState<SignInWays | null>(null);
  const [lost, setLost] = useState("");
  const [version, setVersion] = useState(0);

  const connect = useCallback(() => {
    changeCaller();
    setVersion((held) => held + 1);
  }, []);
  const heard = useCallback(() => setRefused(""), []);
  useEffect(
    () =>
      onRefused((message) => {
        const isSame = sameCaller();
        api
          .ways()
          .then((found) => setWays(found.provider !== null || found.passwords ? found : null))
          .catch(() => undefined) // then only a key helps
          .finally(() => isSame() && setRefused(message));
      }),
    [],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: another key or view needs another request
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
        if (error instanceof ApiError) setMe(null);
        else setLost(told(error));
      });
    return () => {
      current = false;
    };
  }, [version, view]);
  return { me, refused, ways, lost, version, connect, heard };
}

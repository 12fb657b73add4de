import { useCallback, useEffect, useState } from "react";
import { told } from "../api/errors";

export interface Loaded<T> {
  value: T | null;
  /** Why it could not be loaded or changed; empty if all went well. */
  error: string;
  reload: () => void;
  /** Change something, then load anew; return whether it went well. */
  change: (act: () => Promise<unknown>) => Promise<boolean>;
}

/** Load something of the server, again whenever it changes, and every few milliseconds if wanted. */
export function useLoaded<T>(load: () => Promise<T>, every = 0): Loaded<T> {
  const [value, setValue] = useState<T | null>(null);
  const [error, setError] = useState("");
  const [version, setVersion] = useState(0);
  const reload = useCallback(() => setVersion((held) => held + 1), []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change needs another request
  useEffect(() => {
    let current = true;
    const look = () =>
      load()
        .then((found) => current && setValue(found))
        .catch((problem) => current && setError(told(problem)));
    void look();
    const timer = every ? setInterval(look, every) : undefined;
    return () => {
      current = false;
      clearInterval(timer);
    };
  }, [load, every, version]);
  const change = useCallback(
    async (act: () => Promise<unknown>) => {
      setError("");
      try {
        await act();
      } catch (problem) {
        setError(told(problem));
        return false;
      }
      reload();
      return true;
    },
    [reload],
  );
  return { value, error, reload, change };
}

import { useSyncExternalStore } from "react";

/** Below this the menu is a drawer, and a source covers the answer; the same stands in the styles. */
const query = matchMedia("(max-width: 60rem)");

const subscribe = (changed: () => void) => {
  query.addEventListener("change", changed);
  return () => query.removeEventListener("change", changed);
};

export const useNarrow = (): boolean => useSyncExternalStore(subscribe, () => query.matches);

import { useSyncExternalStore } from "react";

/** Below this width the menu is a drawer and a source covers the answer. The styles have the same value. */
const query = matchMedia("(max-width: 60rem)");

const subscribe = (changed: () => void) => {
  query.addEventListener("change", changed);
  return () => query.removeEventListener("change", changed);
};

export const useNarrow = (): boolean => useSyncExternalStore(subscribe, () => query.matches);

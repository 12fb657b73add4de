import { useSyncExternalStore } from "react";

/** The current view, kept in the fragment of the URL, which no server sees. */
export type Route = { view: "chat"; session: string | null } | { view: "sources" };

export function parsed(hash: string): Route {
  if (hash === "#/sources") return { view: "sources" };
  return { view: "chat", session: decoded(/^#\/c\/([^/]+)$/.exec(hash)?.[1]) };
}

function decoded(part: string | undefined): string | null {
  try {
    return part ? decodeURIComponent(part) : null;
  } catch {
    return null; // no address of ours
  }
}

export const hashOf = (route: Route): string =>
  route.view === "sources" ? "#/sources" : route.session ? `#/c/${encodeURIComponent(route.session)}` : "#/";

const subscribe = (changed: () => void) => {
  addEventListener("hashchange", changed);
  return () => removeEventListener("hashchange", changed);
};

export function useRoute(): [Route, (route: Route, how?: "replace") => void] {
  const hash = useSyncExternalStore(subscribe, () => location.hash);
  return [parsed(hash), go];
}

function go(route: Route, how?: "replace"): void {
  const hash = hashOf(route);
  if (how === "replace") {
    history.replaceState(null, "", hash);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else if (location.hash !== hash) location.hash = hash;
}

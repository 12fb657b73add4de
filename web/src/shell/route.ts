import { useSyncExternalStore } from "react";

/** The current view, kept in the fragment of the URL, which no server sees. */
export type Route =
  | { view: "chat"; session: string | null }
  | { view: "sources"; cited?: Cited }
  | { view: "shared"; secret: string }
  | { view: "admin"; tab: string };

/** A place in a document, as an address names it: characters from `start` to `end`. */
export interface Cited {
  documentId: string;
  start: number;
  end: number;
}

const CITED = /^#\/d\/([^/?]+)\?start=(\d+)&end=(\d+)$/;

export function parsed(hash: string): Route {
  if (hash === "#/sources") return { view: "sources" };
  const admin = /^#\/admin(?:\/([a-z]+))?$/.exec(hash);
  if (admin) return { view: "admin", tab: admin[1] ?? "" };
  const secret = /^#\/s\/([\w-]+)$/.exec(hash)?.[1];
  if (secret) return { view: "shared", secret };
  const [, id, start, end] = CITED.exec(hash) ?? [];
  const documentId = decoded(id);
  if (documentId) return { view: "sources", cited: { documentId, start: Number(start), end: Number(end) } };
  return { view: "chat", session: decoded(/^#\/c\/([^/]+)$/.exec(hash)?.[1]) };
}

function decoded(part: string | undefined): string | null {
  try {
    return part ? decodeURIComponent(part) : null;
  } catch {
    return null; // no address of ours
  }
}

export function hashOf(route: Route): string {
  if (route.view === "chat") return route.session ? `#/c/${encodeURIComponent(route.session)}` : "#/";
  if (route.view === "shared") return `#/s/${route.secret}`;
  if (route.view === "admin") return route.tab ? `#/admin/${route.tab}` : "#/admin";
  if (!route.cited) return "#/sources";
  const { documentId, start, end } = route.cited;
  return `#/d/${encodeURIComponent(documentId)}?start=${start}&end=${end}`;
}

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

export interface SafeLink {
  href: string;
  /** What a reader must see before following it. */
  host: string;
}

/** A document's address as a link that may be offered: on the web, and without a name or password in it. */
export function safeLink(url: string): SafeLink | null {
  if (!/^https?:\/\//i.test(url)) return null;
  try {
    const { protocol, href, host, username, password } = new URL(url);
    if ((protocol !== "https:" && protocol !== "http:") || username || password) return null;
    return { href, host };
  } catch {
    return null;
  }
}

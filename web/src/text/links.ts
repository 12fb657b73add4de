export interface SafeLink {
  href: string;
  /** The host, shown before the reader follows the link. */
  host: string;
}

/** Return a document's URL as a link if it is on the web and has no credentials in it. */
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

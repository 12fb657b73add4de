import { type Language, preferred } from "../words/shared";

/** What a site sets at the script tag, as `data-` attributes. */
export interface Settings {
  /** The server of the chat, where the script comes from. */
  server: URL;
  /** Where the site's own server gives tokens to its visitors; none if they ask without a name. */
  tokens: URL | null;
  language: Language;
  theme: "auto" | "light" | "dark";
  /** The site's colour, and black or white, which is legible on it. */
  accent: { ground: string; text: string } | null;
  /** The heading; empty for one in the visitor's language. */
  title: string;
  side: "left" | "right";
}

/** Return the settings at a script tag; what cannot be understood is told to the site's developer. */
export function settingsOf(script: HTMLScriptElement, complain: (problem: string) => void): Settings {
  const { theme = "auto", accent = "", language = "", title = "", tokens = "", side = "right" } = script.dataset;
  const one = <T extends string>(name: string, value: string, known: readonly [T, ...T[]]): T => {
    const found = known.find((word) => word === value);
    if (!found) complain(`data-${name} is one of ${known.join(", ")}, not "${value}"`);
    return found ?? known[0];
  };
  const ground = /^#[0-9a-f]{6}$/i.test(accent) ? accent : null;
  if (accent && !ground) complain(`data-accent is a colour such as #1d6b58, not "${accent}"`);
  return {
    server: new URL(".", script.src),
    tokens: tokens ? addressOf(tokens, complain) : null,
    language: preferred([language, document.documentElement.lang, ...navigator.languages]),
    theme: one("theme", theme, ["auto", "light", "dark"]),
    accent: ground ? { ground, text: legibleOn(ground) } : null,
    title,
    side: one("side", side, ["right", "left"]),
  };
}

function addressOf(text: string, complain: (problem: string) => void): URL | null {
  const url = URL.parse(text, document.baseURI);
  if (url && /^https?:$/.test(url.protocol)) return url;
  complain(`data-tokens is an address of this site, not "${text}"`);
  return null;
}

/** Return the one of black and white that has more contrast on a colour: at least 4.5, by the formula of WCAG. */
export function legibleOn(colour: string): string {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000000" : "#ffffff";
}

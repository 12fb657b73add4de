import { language } from "../words/shared";
import { words } from "../words/words";

const STEPS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** Return how long ago a time was, given in seconds since 1970. */
export function ago(at: number, now = Date.now() / 1000): string {
  const seconds = Math.max(0, now - at);
  for (const [unit, length] of STEPS) {
    if (seconds >= length) {
      const words = new Intl.RelativeTimeFormat(language(), { numeric: "auto", style: "short" });
      return words.format(-Math.floor(seconds / length), unit);
    }
  }
  return words().justNow;
}

/** Return the day of a time in ISO 8601, as the reader writes it. */
export const day = (at: string): string => new Date(at).toLocaleDateString(language(), { dateStyle: "medium" });

const STEPS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];
const WORDS = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });

/** Return how long ago a time was, given in seconds since 1970. */
export function ago(at: number, now = Date.now() / 1000): string {
  const seconds = Math.max(0, now - at);
  for (const [unit, length] of STEPS) {
    if (seconds >= length) return WORDS.format(-Math.floor(seconds / length), unit);
  }
  return "just now";
}

export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

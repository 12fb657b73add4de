import { shared as de } from "./de";
import { shared as en } from "./en";
import { shared as lt } from "./lt";
import { shared as ms } from "./ms";
import type { SharedTexts } from "./types";

const SHARED = { en, de, lt, ms } as const satisfies Record<string, SharedTexts>;
export type Language = keyof typeof SHARED;

export const isLanguage = (name: string | null): name is Language => name !== null && Object.hasOwn(SHARED, name);

/** Return the first of some languages that we speak; English if we speak none of them. */
export function preferred(wanted: readonly string[]): Language {
  return wanted.map((one) => one.toLowerCase().split("-")[0] as string).find(isLanguage) ?? "en";
}

let current: Language = preferred(globalThis.navigator?.languages ?? []);

/** Return the texts in the language that is spoken. */
export const shared = (): SharedTexts => SHARED[current];

export const language = (): Language => current;

/** Speak a language from now on. */
export function setLanguage(chosen: Language): void {
  current = chosen;
}

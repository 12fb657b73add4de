import { useSyncExternalStore } from "react";
import { de } from "./de";
import { en } from "./en";
import { lt } from "./lt";
import { ms } from "./ms";

/** All texts of the page in one language: plain ones, and functions of what they name. */
export type Words = Said<typeof en>;
export type Said<Text> = Text extends (...given: infer Given) => string
  ? (...given: Given) => string
  : Text extends string
    ? string
    : { readonly [Key in keyof Text]: Said<Text[Key]> };

export const LANGUAGES = { en, de, lt, ms } as const satisfies Record<string, Words>;
export type Language = keyof typeof LANGUAGES;
/** What each language calls itself. */
export const NAMES: Record<Language, string> = { en: "English", de: "Deutsch", lt: "Lietuvių", ms: "Bahasa Melayu" };

const NAME = "ragstone.language";
const isOurs = (name: string | null): name is Language => name !== null && Object.hasOwn(LANGUAGES, name);

/** Return the first language of the browser that the page speaks; English if it speaks none of them. */
export function preferred(wanted: readonly string[]): Language {
  return wanted.map((one) => one.toLowerCase().split("-")[0] as string).find(isOurs) ?? "en";
}

function kept(): Language {
  try {
    const chosen = localStorage.getItem(NAME);
    if (isOurs(chosen)) return chosen;
  } catch {
    // Storage is disabled; the browser decides.
  }
  return preferred(globalThis.navigator?.languages ?? []);
}

let current: Language = kept();
const listeners = new Set<() => void>();

/** Return the texts in the language of the page. Components that show them are drawn again when it changes. */
export const words = (): Words => LANGUAGES[current];

export const language = (): Language => current;

export function speak(chosen: Language): void {
  current = chosen;
  document.documentElement.lang = chosen;
  try {
    localStorage.setItem(NAME, chosen);
  } catch {
    // The choice is not kept.
  }
  for (const told of listeners) told();
}

const subscribe = (told: () => void) => {
  listeners.add(told);
  return () => listeners.delete(told);
};

/** Return the language, and follow it. */
export const useLanguage = (): Language => useSyncExternalStore(subscribe, language);

import { useSyncExternalStore } from "react";
import { de } from "./de";
import { en } from "./en";
import { lt } from "./lt";
import { ms } from "./ms";
import { isLanguage, type Language, language, type Said, setLanguage } from "./shared/words";

/** All texts of the page in one language: plain ones, and functions of what they name. */
export type Words = Said<typeof en>;

export const LANGUAGES: Record<Language, Words> = { en, de, lt, ms };
/** What each language calls itself. */
export const NAMES: Record<Language, string> = { en: "English", de: "Deutsch", lt: "Lietuvių", ms: "Bahasa Melayu" };

const NAME = "ragstone.language";

try {
  const chosen = localStorage.getItem(NAME);
  if (isLanguage(chosen)) setLanguage(chosen);
} catch {
  // Storage is disabled; the browser decides.
}

const listeners = new Set<() => void>();

/** Return the texts in the language of the page. Components that show them are drawn again when it changes. */
export const words = (): Words => LANGUAGES[language()];

export function speak(chosen: Language): void {
  setLanguage(chosen);
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

import { useSyncExternalStore } from "react";
import * as de from "./de";
import * as en from "./en";
import * as lt from "./lt";
import * as ms from "./ms";
import { isLanguage, type Language, language, setLanguage } from "./shared";
import type { AdminTexts, Words } from "./types";

export const LANGUAGES: Record<Language, Words> = {
  en: { ...en.shared, ...en.page },
  de: { ...de.shared, ...de.page },
  lt: { ...lt.shared, ...lt.page },
  ms: { ...ms.shared, ...ms.page },
};
const ADMIN: Record<Language, AdminTexts> = { en: en.admin, de: de.admin, lt: lt.admin, ms: ms.admin };
/** What each language calls itself. */
export const NAMES: Record<Language, string> = { en: en.name, de: de.name, lt: lt.name, ms: ms.name };

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

/** Return the texts of administration in the language of the page. */
export const adminWords = (): AdminTexts => ADMIN[language()];

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

import { shared as en } from "./en";
import type { SharedTexts } from "./types";

/** The languages that we speak, by what each calls itself. */
export const NAMES = { en: "English", de: "Deutsch", lt: "Lietuvių", ms: "Bahasa Melayu" } as const;
export type Language = keyof typeof NAMES;

export const isLanguage = (name: string | null): name is Language => name !== null && Object.hasOwn(NAMES, name);

/** Return the first of some languages that we speak; English if we speak none of them. */
export function preferred(wanted: readonly string[]): Language {
  return wanted.map((one) => one.toLowerCase().split("-")[0] as string).find(isLanguage) ?? "en";
}

let current: { language: Language; texts: SharedTexts } = { language: "en", texts: en };

/** Return the shared texts in the language that is spoken. */
export const shared = (): SharedTexts => current.texts;

export const language = (): Language => current.language;

/** Speak a language from now on. */
export function setLanguage(language: Language, texts: SharedTexts): void {
  current = { language, texts };
}

import { useSyncExternalStore } from "react";
import * as en from "./en";
import { isLanguage, type Language, language, preferred, setLanguage } from "./shared";
import type { Words } from "./types";

const both = ({ shared, page }: Pick<typeof import("./de"), "shared" | "page">): Words => ({ ...shared, ...page });

/** Languages are loaded when they are spoken. English is there, for the page to say something whatever happens. */
const LOADED: Record<Language, () => Promise<Words>> = {
  en: async () => both(en),
  de: async () => both(await import("./de")),
  lt: async () => both(await import("./lt")),
  ms: async () => both(await import("./ms")),
};

const NAME = "ragstone.language";

let texts: Words = both(en);
const listeners = new Set<() => void>();

/** Return the texts in the language of the page. Components that show them are drawn again when it changes. */
export const words = (): Words => texts;

/** Load the language that was chosen before, or that the browser prefers, and speak it. */
export async function speakFirst(): Promise<void> {
  let chosen: string | null = null;
  try {
    chosen = localStorage.getItem(NAME);
  } catch {
    // Storage is disabled; the browser decides.
  }
  await spoken(isLanguage(chosen) ? chosen : preferred(navigator.languages));
}

/** Speak a language, and remember the choice. */
export async function speak(chosen: Language): Promise<void> {
  await spoken(chosen);
  try {
    localStorage.setItem(NAME, chosen);
  } catch {
    // The choice is not kept.
  }
  for (const told of listeners) told();
}

async function spoken(chosen: Language): Promise<void> {
  texts = await LOADED[chosen]();
  setLanguage(chosen, texts);
  document.documentElement.lang = chosen;
}

const subscribe = (told: () => void) => {
  listeners.add(told);
  return () => listeners.delete(told);
};

/** Return the language, and follow it. */
export const useLanguage = (): Language => useSyncExternalStore(subscribe, language);

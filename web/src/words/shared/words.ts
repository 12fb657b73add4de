import { de } from "./de";
import { en } from "./en";
import { lt } from "./lt";
import { ms } from "./ms";

/** The texts that the page and the chat on other sites have in common, in one language. */
export type Shared = Said<typeof en>;
export type Said<Text> = Text extends (...given: infer Given) => string
  ? (...given: Given) => string
  : Text extends string
    ? string
    : { readonly [Key in keyof Text]: Said<Text[Key]> };

const SHARED = { en, de, lt, ms } as const satisfies Record<string, Shared>;
export type Language = keyof typeof SHARED;

export const isLanguage = (name: string | null): name is Language => name !== null && Object.hasOwn(SHARED, name);

/** Return the first of some languages that we speak; English if we speak none of them. */
export function preferred(wanted: readonly string[]): Language {
  return wanted.map((one) => one.toLowerCase().split("-")[0] as string).find(isLanguage) ?? "en";
}

let current: Language = preferred(globalThis.navigator?.languages ?? []);

/** Return the texts in the language that is spoken. */
export const shared = (): Shared => SHARED[current];

export const language = (): Language => current;

/** Speak a language from now on. */
export function setLanguage(chosen: Language): void {
  current = chosen;
}

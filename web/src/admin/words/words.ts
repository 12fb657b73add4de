import { type Language, language, type Said } from "../../words/shared/words";
import { de } from "./de";
import { en } from "./en";
import { lt } from "./lt";
import { ms } from "./ms";

export type AdminWords = Said<typeof en>;

const ALL: Record<Language, AdminWords> = { en, de, lt, ms };

/** Return the texts of administration in the language of the page. */
export const adminWords = (): AdminWords => ALL[language()];

import { type Language, language } from "../shared";
import type { AdminTexts } from "../types";
import { admin as de } from "./de";
import { admin as en } from "./en";
import { admin as lt } from "./lt";
import { admin as ms } from "./ms";

const ADMIN: Record<Language, AdminTexts> = { en, de, lt, ms };

/** Return the texts of administration in the language of the page. */
export const adminWords = (): AdminTexts => ADMIN[language()];

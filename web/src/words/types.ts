import type { admin } from "./admin/en";
import type { page, shared } from "./en";

/** Texts as the English ones are: plain ones, and functions of what they name. */
type Said<Text> = Text extends (...given: infer Given) => string
  ? (...given: Given) => string
  : Text extends string
    ? string
    : { readonly [Key in keyof Text]: Said<Text[Key]> };

export type SharedTexts = Said<typeof shared>;
export type PageTexts = Said<typeof page>;
export type AdminTexts = Said<typeof admin>;
/** All texts of the page in one language. */
export type Words = SharedTexts & PageTexts;

type Forms = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };

/** Return a number with the form of the noun that belongs to it: `1 document`, `2 documents`. */
export function plural(language: string, count: number, forms: Forms): string {
  const form = forms[new Intl.PluralRules(language).select(count)] ?? forms.other;
  return `${count.toLocaleString(language)} ${form}`;
}

/** Return whether a label of a page is a number, in digits or in Roman letters. */
export const isNumber = (label: string): boolean => /^[\divxlc]+$/i.test(label);

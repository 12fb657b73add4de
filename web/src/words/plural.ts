type Forms = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };

/** Return a number with the form of the noun that belongs to it: `1 document`, `2 documents`. */
export function plural(language: string, count: number, forms: Forms): string {
  const form = forms[new Intl.PluralRules(language).select(count)] ?? forms.other;
  return `${count.toLocaleString(language)} ${form}`;
}

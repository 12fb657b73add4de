export const OPERATORS = ["=", "!=", "<", "<=", ">", ">="] as const;
export type Operator = (typeof OPERATORS)[number];

export interface Condition {
  field: string;
  operator: Operator;
  value: string;
}

/** A filter on documents: conditions that must all hold, and an expression in the filter language. */
export interface Filter {
  conditions: readonly Condition[];
  written: string;
}

export const NO_FILTER: Filter = { conditions: [], written: "" };

/** The values of a field, and whether they are numbers or booleans instead of text. */
export type Fields = ReadonlyMap<string, { values: readonly string[]; bare: boolean }>;

/** Return the filter in the filter language; empty for all documents. */
export function whereOf(filter: Filter, fields: Fields): string {
  const whole = filter.conditions.filter((one) => one.field && one.value);
  const parts = whole.map((one) => `${one.field} ${one.operator} ${quoted(one, fields)}`);
  if (filter.written.trim()) parts.push(parts.length ? `(${filter.written.trim()})` : filter.written.trim());
  return parts.join(" and ");
}

/** Quote text values; an unquoted number is a number. */
function quoted({ field, value }: Condition, fields: Fields): string {
  const number = /^-?(0|[1-9]\d*)(\.\d+)?$/.test(value) || value === "true" || value === "false";
  if (number && fields.get(field)?.bare !== false) return value;
  return `"${value.replace(/[\\"]/g, "\\$&")}"`;
}

const MOST_VALUES = 100;

/** Return the fields of the listed documents. */
export function fieldsOf(all: Iterable<Readonly<Record<string, unknown>>>): Fields {
  const seen = new Map<string, { values: Set<string>; bare: boolean }>();
  for (const metadata of all) {
    for (const [name, value] of Object.entries(metadata)) {
      const field = seen.get(name) ?? { values: new Set<string>(), bare: true };
      seen.set(name, field);
      for (const one of Array.isArray(value) ? value : [value]) {
        if (typeof one === "string") field.bare = false;
        if (field.values.size < MOST_VALUES) field.values.add(String(one));
      }
    }
  }
  return new Map([...seen].map(([name, { values, bare }]) => [name, { values: [...values].sort(), bare }]));
}

import type { Collection, Listed } from "../api/types";
import { titleOf } from "../library/DocumentRow";

/** A document that the next questions are confined to. */
export interface Scoped {
  id: string;
  title: string;
}

export const scoped = (documents: readonly Listed[]): Scoped[] =>
  documents.map((one) => ({ id: one.document_id, title: titleOf(one) }));

const quoted = (text: string): string => `"${text.replace(/[\\"]/g, "\\$&")}"`;

/** Return the filter, in the filter language, on these documents and on what else is wanted. */
export function confined(scope: readonly Scoped[], where: string): string {
  const ids = scope.map((one) => quoted(one.id));
  if (!ids.length) return where;
  const own = ids.length === 1 ? `id = ${ids[0]}` : `id in (${ids.join(", ")})`;
  return where ? `${own} and (${where})` : own;
}

/** Return a filter that needs both of two; either may be empty. */
export const both = (one: string, other: string): string => (one && other ? `(${one}) and (${other})` : one || other);

/** Return a filter as it is shown: by the name of its collection, and of documents, the last part of their ids. */
export function shownFilter(where: string, collections: readonly Collection[] = []): string {
  for (const { name, where: own } of collections) {
    if (where === own) return name;
    const rest = where.slice(both(own, " ").length - 2, -1);
    if (rest && where === both(own, rest)) return `${name} · ${shownFilter(rest)}`;
  }
  const found = /^id (?:=|in) \(?((?:"(?:[^"\\]|\\.)*"(?:, )?)+)\)?/.exec(where);
  if (!found) return where;
  const names = [...(found[1] as string).matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(
    ([, id]) => (id as string).replace(/\\(.)/g, "$1").split(/[\\/]/).at(-1) as string,
  );
  return names.join(", ") + where.slice(found[0].length);
}

import { words } from "../words/words";
import { placeOf, type Target } from "./target";

/** Return section and page in words, and whose words they are if a model describes a picture. */
export function originOf(target: Pick<Target, "section" | "page" | "passage">): string {
  const model = target.passage?.metadata.described_by;
  return [placeOf(target), model && words().describedBy(String(model))].filter(Boolean).join(" · ");
}

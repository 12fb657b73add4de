import { words } from "../words/words";
import { placeOf, type Target } from "./target";

/** Return section and page in words, and whose words they are if a tool returned them or a model describes a picture. */
export function originOf(target: Pick<Target, "section" | "page" | "passage" | "chunkId">): string {
  const model = target.passage?.metadata.described_by;
  const tool = target.chunkId.startsWith("tool:") && words().ofTool;
  return [placeOf(target), tool, model && words().describedBy(String(model))].filter(Boolean).join(" · ");
}

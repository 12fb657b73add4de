import type { Look } from "../text/markdown";
import { formulaOf } from "../text/tex";
import { FormulaView } from "./FormulaView";

/** Words as their Markdown says they look. */
export function Looking({ text, look }: { text: string; look: Look }) {
  if (look === "bold") return <strong>{text}</strong>;
  if (look === "italic") return <em>{text}</em>;
  if (look === "struck") return <s>{text}</s>;
  if (look === "code") return <code>{text}</code>;
  const formula = look === "formula" ? formulaOf(text) : null;
  return formula ? <FormulaView text={text} {...formula} /> : text;
}

import type { Look } from "../text/markdown";

/** Words as their Markdown says they look. */
export function Looking({ text, look }: { text: string; look: Look }) {
  if (look === "bold") return <strong>{text}</strong>;
  if (look === "italic") return <em>{text}</em>;
  if (look === "struck") return <s>{text}</s>;
  return look === "code" ? <code>{text}</code> : text;
}

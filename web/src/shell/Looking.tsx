import { createElement, Fragment } from "react";
import type { Look } from "../text/markdown";
import { type Drawn, drawnOf } from "../text/tex";

/** Words as their Markdown says they look. A formula that cannot be drawn stays the text that it is. */
export function Looking({ text, look }: { text: string; look: Look }) {
  if (look === "bold") return <strong>{text}</strong>;
  if (look === "italic") return <em>{text}</em>;
  if (look === "struck") return <s>{text}</s>;
  if (look === "formula") return <Formula text={text} />;
  return look === "code" ? <code>{text}</code> : text;
}

function Formula({ text }: { text: string }) {
  const drawn = drawnOf(text);
  if (!drawn) return text;
  const math = elementOf(drawn);
  return drawn.attributes?.display ? (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with the keyboard
    <span className="formula" tabIndex={0}>
      {math}
    </span>
  ) : (
    math
  );
}

const elementOf = ({ name, children, attributes = {} }: Drawn) =>
  createElement(
    name,
    attributes,
    ...children.map((one, at) => <Fragment key={at}>{typeof one === "string" ? one : elementOf(one)}</Fragment>),
  );

import { useEffect, useRef } from "react";
import type { Formula } from "../text/tex";

/**
 * A formula as MathML. Its text stands there until KaTeX is loaded, and stays if it has a command that KaTeX does not
 * know, links, or takes too much to expand.
 */
export function FormulaView({ text, tex, isBlock }: Formula & { text: string }) {
  const place = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    element.textContent = text;
    let isShown = true;
    import("katex")
      .then(({ default: katex }) => {
        if (isShown)
          katex.render(tex, element, {
            output: "mathml",
            displayMode: isBlock,
            strict: false,
            maxExpand: 100,
            maxSize: 10,
          });
      })
      .catch(() => {
        if (isShown) element.textContent = text;
      });
    return () => {
      isShown = false;
    };
  }, [text, tex, isBlock]);
  return isBlock ? (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with the keyboard
    <span ref={place} className="formula" tabIndex={0} />
  ) : (
    <span ref={place} />
  );
}

import { useEffect, useRef, useState } from "react";
import type { Words } from "../words/types";

const NAME = "ragstone.shortcuts";

/** Whether single-key shortcuts are on. Users of speech input may need to switch them off. */
export function useSingleKeys(): [boolean, (on: boolean) => void] {
  const [on, setOn] = useState(() => {
    try {
      return localStorage.getItem(NAME) !== "off";
    } catch {
      return true;
    }
  });
  const choose = (chosen: boolean) => {
    setOn(chosen);
    try {
      localStorage.setItem(NAME, chosen ? "on" : "off");
    } catch {
      // Storage is disabled; the choice is not kept.
    }
  };
  return [on, choose];
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches("input:not([type=checkbox],[type=radio]), textarea, select");

/**
 * Call the action of a key, unless the user is typing, holds a modifier, or has a dialog open. While nothing is focused,
 * single keys act only after Escape: whoever has clicked beside the box and types on does not mean them.
 */
export function useShortcuts(bindings: Record<string, () => void>, singleKeys: boolean): void {
  const latest = useRef(bindings);
  latest.current = bindings;
  useEffect(() => {
    let escaped = false;
    const focused = (event: FocusEvent) => {
      if (isTyping(event.target)) escaped = false;
    };
    const pressed = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      if (document.querySelector("dialog[open]")) return;
      if (event.key === "Escape") escaped = true;
      else if (!singleKeys || isTyping(event.target)) return;
      else if (event.target === document.body && !escaped && event.key !== "/") return;
      const called = latest.current[event.key];
      if (!called) return;
      event.preventDefault();
      called();
    };
    addEventListener("focusin", focused);
    addEventListener("keydown", pressed);
    return () => {
      removeEventListener("focusin", focused);
      removeEventListener("keydown", pressed);
    };
  }, [singleKeys]);
}

export const SHORTCUTS: readonly (readonly [string, keyof Words["shortcutList"]])[] = [
  ["/", "question"],
  ["Enter", "ask"],
  ["↑", "previous"],
  ["1 – 9", "citation"],
  ["[ ]", "move"],
  ["n", "fresh"],
  ["s", "sources"],
  ["Esc", "escape"],
  ["?", "list"],
];

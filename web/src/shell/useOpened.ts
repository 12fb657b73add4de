import { useCallback, useEffect, useRef, useState } from "react";
import type { Target } from "../chat/target";

/** The open source: its turn, all targets of that turn, and the index of the current one. */
export interface Opened {
  turn: string;
  targets: readonly Target[];
  at: number;
}

const OPEN = "source";

/**
 * Which source stands open beside the answer. Closing it gives the focus back to what opened it; where it covers the
 * answer, the browser's own way back closes it too.
 */
export function useOpened(covering: boolean) {
  const [opened, setOpened] = useState<Opened | null>(null);
  const opener = useRef<Element | null>(null);

  const open = useCallback((turn: string, targets: readonly Target[], at: number) => {
    setOpened((before) => {
      if (!before) opener.current = document.activeElement;
      return { turn, targets, at };
    });
  }, []);
  const move = useCallback((at: number) => {
    setOpened((before) => (before?.targets[at] ? { ...before, at } : before));
  }, []);
  const close = useCallback(() => {
    setOpened(null);
    const back = opener.current;
    requestAnimationFrame(() => back instanceof HTMLElement && back.focus());
  }, []);
  const covers = covering && opened !== null;
  useEffect(() => {
    if (!covers) return;
    history.pushState(OPEN, "");
    addEventListener("popstate", close);
    return () => {
      removeEventListener("popstate", close);
      if (history.state === OPEN) history.back();
    };
  }, [covers, close]);
  const drop = useCallback(() => setOpened(null), []);
  return { opened, open, move, close, drop };
}

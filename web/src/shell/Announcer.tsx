import { createContext, type ReactNode, useCallback, useContext, useRef, useState } from "react";

const Announce = createContext<(text: string) => void>(() => undefined);

/** Announce something to screen readers once they have finished speaking. */
export const useAnnounce = () => useContext(Announce);

/**
 * The one live region of the page. Words that stream in are not announced one by one, only what came of them; the same
 * text said twice is told apart by a blank, or nothing would be read out.
 */
export function Announcer({ children }: { children: ReactNode }) {
  const [text, setText] = useState("");
  const odd = useRef(false);
  const announce = useCallback((said: string) => {
    odd.current = !odd.current;
    setText(odd.current ? said : `${said}\u00A0`);
  }, []);
  return (
    <Announce value={announce}>
      <div className="visually-hidden" role="status" aria-live="polite">
        {text}
      </div>
      {children}
    </Announce>
  );
}

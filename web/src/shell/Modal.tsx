import { type ReactNode, useEffect, useId, useRef } from "react";
import { words } from "../words/words";
import { IconButton } from "./Button";

/** A native dialog: it traps the focus, closes with Escape, and restores the focus. */
export function Modal({ title, onClose, children }: { title: string; onClose: () => void; children: ReactNode }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    element?.querySelector<HTMLInputElement>("input:not([type=checkbox])")?.focus();
    return () => element?.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard has Escape and the button
    <dialog
      ref={dialog}
      className="modal"
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <div className="modal-body">
        <header className="modal-head">
          <h2 id={heading}>{title}</h2>
          <IconButton icon="close" label={words().close} onClick={onClose} />
        </header>
        {children}
      </div>
    </dialog>
  );
}

import { type FormEvent, useState } from "react";
import { keys } from "../api/keys";
import { Modal } from "./Modal";

interface Props {
  /** Why the server refused, if it did. */
  refused: string;
  onClose: () => void;
  onChanged: () => void;
}

export function KeyDialog({ refused, onClose, onChanged }: Props) {
  const [key, setKey] = useState("");
  const [keep, setKeep] = useState(true);
  const [held, setHeld] = useState(keys.get() !== "");

  const submit = (event: FormEvent) => {
    event.preventDefault();
    keys.set(key, keep);
    onChanged();
    onClose();
  };
  const forget = () => {
    keys.forget();
    setHeld(false);
    onChanged();
  };

  return (
    <Modal title="API key" onClose={onClose}>
      <form onSubmit={submit} className="stack">
        {refused && (
          <p className="notice warn" role="alert">
            {refused}
          </p>
        )}
        <p className="quiet">
          {held ? "A key is in use. A new one replaces it." : "Enter the key that the server's administrator gave you."}{" "}
          It is sent only to this server and never appears in a URL.
        </p>
        <label className="field">
          <span>Key</span>
          <input
            type="password"
            autoComplete="off"
            spellCheck={false}
            required
            placeholder="rgs_…"
            value={key}
            onChange={(event) => setKey(event.target.value)}
          />
        </label>
        <label className="check">
          <input type="checkbox" checked={keep} onChange={(event) => setKeep(event.target.checked)} />
          <span>Remember it until this tab is closed</span>
        </label>
        <div className="row end">
          {held && (
            <button type="button" className="button" onClick={forget}>
              Forget the key
            </button>
          )}
          <button type="submit" className="button primary">
            Use this key
          </button>
        </div>
      </form>
    </Modal>
  );
}

import { type FormEvent, useState } from "react";
import { keys } from "../api/keys";
import { words } from "../words/words";
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
  const say = words();

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
    <Modal title={say.apiKey} onClose={onClose}>
      <form onSubmit={submit} className="stack">
        {refused && (
          <p className="notice warn" role="alert">
            {refused}
          </p>
        )}
        <p className="quiet">
          {held ? say.keyInUse : say.enterKey} {say.keySafe}
        </p>
        <label className="field">
          <span>{say.key}</span>
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
          <span>{say.rememberKey}</span>
        </label>
        <div className="row end">
          {held && (
            <button type="button" className="button" onClick={forget}>
              {say.forgetKey}
            </button>
          )}
          <button type="submit" className="button primary">
            {say.useKey}
          </button>
        </div>
      </form>
    </Modal>
  );
}

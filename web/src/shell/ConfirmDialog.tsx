import { useState } from "react";
import { told } from "../api/errors";
import { words } from "../words/words";
import { Modal } from "./Modal";

interface Props {
  title: string;
  text: string;
  action: string;
  onConfirm: () => Promise<void>;
  onClose: () => void;
}

/** Ask before something is deleted. */
export function ConfirmDialog({ title, text, action, onConfirm, onClose }: Props) {
  const [error, setError] = useState("");
  const [working, setWorking] = useState(false);
  const confirm = async () => {
    setWorking(true);
    try {
      await onConfirm();
      onClose();
    } catch (failure) {
      setError(told(failure));
      setWorking(false);
    }
  };
  return (
    <Modal title={title} onClose={onClose}>
      <div className="stack">
        <p>{text}</p>
        {error && (
          <p className="notice warn" role="alert">
            {error}
          </p>
        )}
        <div className="row end">
          <button type="button" className="button" onClick={onClose}>
            {words().keepIt}
          </button>
          <button type="button" className="button danger" disabled={working} onClick={() => void confirm()}>
            {action}
          </button>
        </div>
      </div>
    </Modal>
  );
}

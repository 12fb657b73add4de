import { type FormEvent, useState } from "react";
import { api } from "../api/client";
import { ApiError, told } from "../api/errors";
import { words } from "../words/words";
import { useAnnounce } from "./Announcer";
import { Modal } from "./Modal";

/** A person changes their own password. */
export function PasswordDialog({ onClose }: { onClose: () => void }) {
  const say = words();
  const announce = useAnnounce();
  const [failed, setFailed] = useState("");
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    setFailed("");
    try {
      await api.changePassword(String(given.get("current")), String(given.get("new")));
    } catch (error) {
      setFailed(error instanceof ApiError && error.status === 401 ? say.wrongCurrent : told(error));
      return;
    }
    announce(say.passwordChanged);
    onClose();
  };
  return (
    <Modal title={say.changePassword} onClose={onClose}>
      <form className="stack" onSubmit={(event) => void submit(event)}>
        {failed && (
          <p className="notice warn" role="alert">
            {failed}
          </p>
        )}
        <label className="field">
          <span>{say.currentPassword}</span>
          <input name="current" type="password" autoComplete="current-password" required />
        </label>
        <label className="field">
          <span>{say.renewedPassword}</span>
          <input name="new" type="password" autoComplete="new-password" required minLength={10} />
        </label>
        <p className="quiet small">{say.passwordHint}</p>
        <div className="row end">
          <button type="submit" className="button primary">
            {say.changePassword}
          </button>
        </div>
      </form>
    </Modal>
  );
}

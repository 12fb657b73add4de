import { useState } from "react";
import { IconButton } from "../shell/Button";
import { words } from "../words/words";

const NAME = "ragstone.invited";

/** How to connect a language model, until it is dismissed in this browser. */
export function ModelInvitation() {
  const [shown, setShown] = useState(() => {
    try {
      return localStorage.getItem(NAME) === null;
    } catch {
      return true;
    }
  });
  if (!shown) return null;
  const dismiss = () => {
    setShown(false);
    try {
      localStorage.setItem(NAME, "dismissed");
    } catch {
      // Storage is disabled; it is shown again.
    }
  };
  return (
    <div className="invitation">
      <span>
        {words().inviteModel} <a href="#/admin/models">{words().connectModel}</a>
      </span>
      <IconButton icon="close" label={words().dismiss} onClick={dismiss} />
    </div>
  );
}

import { type FormEvent, useState } from "react";
import { api } from "../api/client";
import { told } from "../api/errors";
import type { Conversation } from "../api/types";
import { asJson, asMarkdown, saved } from "../chat/exporting";
import { restored } from "../chat/restore";
import { words } from "../words/words";
import { Modal } from "./Modal";
import { ShareLinks } from "./ShareLinks";

interface Props {
  what: Conversation;
  onChanged: () => void;
  /** Print it, which shows it first. */
  onPrint: () => void;
  onDelete: () => void;
  onClose: () => void;
}

/** What can be done with a conversation: rename, pin, export, share, delete. */
export function ConversationDialog({ what, onChanged, onPrint, onDelete, onClose }: Props) {
  const [title, setTitle] = useState(what.title);
  const [pinned, setPinned] = useState(what.pinned);
  const [error, setError] = useState("");
  const say = words();
  const failed = (bad: unknown) => setError(told(bad));
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    try {
      const renamed = title.trim() !== what.title ? { title: title.trim() } : {};
      const kept = pinned !== what.pinned ? { pinned } : {};
      if (Object.keys({ ...renamed, ...kept }).length) await api.change(what.session, { ...renamed, ...kept });
      onChanged();
      onClose();
    } catch (bad) {
      failed(bad);
    }
  };
  const give = (kind: "md" | "json") => {
    restored(what.session)
      .then((turns) => saved(what.title, kind, kind === "md" ? asMarkdown(what.title, turns) : asJson(what, turns)))
      .catch(failed);
  };
  return (
    <Modal title={say.conversation} onClose={onClose}>
      <form className="stack" onSubmit={(event) => void submit(event)}>
        {error && (
          <p className="notice warn" role="alert">
            {error}
          </p>
        )}
        <label className="field">
          <span>{say.title}</span>
          <input value={title} maxLength={200} onChange={(event) => setTitle(event.target.value)} />
        </label>
        <label className="check">
          <input type="checkbox" checked={pinned} onChange={(event) => setPinned(event.target.checked)} />
          <span>{say.pin}</span>
        </label>
        <div className="row">
          <button type="button" className="button small" onClick={() => give("md")}>
            {say.saveMarkdown}
          </button>
          <button type="button" className="button small" onClick={() => give("json")}>
            {say.saveJson}
          </button>
          <button type="button" className="button small" onClick={onPrint}>
            {say.print}
          </button>
        </div>
        <ShareLinks session={what.session} onFailed={setError} />
        <div className="row end">
          <button type="button" className="button danger" onClick={onDelete}>
            {say.delete}
          </button>
          <span className="grow" />
          <button type="submit" className="button primary">
            {say.keepChanges}
          </button>
        </div>
      </form>
    </Modal>
  );
}

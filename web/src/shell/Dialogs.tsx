import type { Conversation, Listed } from "../api/types";
import { ConfirmDialog } from "./ConfirmDialog";
import { KeyDialog } from "./KeyDialog";
import { ShortcutsDialog } from "./ShortcutsDialog";

/** The open dialog. */
export type Dialog =
  | { kind: "key" }
  | { kind: "shortcuts" }
  | { kind: "forget"; what: Conversation }
  | { kind: "delete"; what: Listed };

interface Props {
  dialog: Dialog;
  refused: string;
  singleKeys: boolean;
  onSingleKeys: (on: boolean) => void;
  onKey: () => void;
  onForget: (what: Conversation) => Promise<void>;
  onDelete: (what: Listed) => Promise<void>;
  onClose: () => void;
}

export function Dialogs(props: Props) {
  const { dialog, onClose } = props;
  switch (dialog.kind) {
    case "key":
      return <KeyDialog refused={props.refused} onClose={onClose} onChanged={props.onKey} />;
    case "shortcuts":
      return <ShortcutsDialog singleKeys={props.singleKeys} onSingleKeys={props.onSingleKeys} onClose={onClose} />;
    case "forget":
      return (
        <ConfirmDialog
          title="Delete this conversation?"
          text={dialog.what.title || dialog.what.session}
          action="Delete"
          onConfirm={() => props.onForget(dialog.what)}
          onClose={onClose}
        />
      );
    case "delete":
      return (
        <ConfirmDialog
          title="Delete this document?"
          text={`${dialog.what.title || dialog.what.document_id} will no longer be found.`}
          action="Delete"
          onConfirm={() => props.onDelete(dialog.what)}
          onClose={onClose}
        />
      );
  }
}

import type { Conversation, Listed } from "../api/types";
import { titleOf } from "../library/DocumentRow";
import { words } from "../words/words";
import { ConfirmDialog } from "./ConfirmDialog";
import { ConversationDialog } from "./ConversationDialog";
import { KeyDialog } from "./KeyDialog";
import { PasswordDialog } from "./PasswordDialog";
import { ShortcutsDialog } from "./ShortcutsDialog";

/** The open dialog. */
export type Dialog =
  | { kind: "key" }
  | { kind: "password" }
  | { kind: "shortcuts" }
  | { kind: "conversation"; what: Conversation }
  | { kind: "forget"; what: Conversation }
  | { kind: "delete"; what: readonly Listed[] };

/** Names that are listed when several documents are deleted. */
const MOST_NAMED = 5;

interface Props {
  dialog: Dialog;
  refused: string;
  singleKeys: boolean;
  onSingleKeys: (on: boolean) => void;
  onKey: () => void;
  onForget: (what: Conversation) => Promise<void>;
  onMore: (dialog: Dialog) => void;
  onChanged: () => void;
  onPrint: (what: Conversation) => void;
  onDelete: (what: readonly Listed[]) => Promise<void>;
  onClose: () => void;
}

export function Dialogs(props: Props) {
  const { dialog, onClose } = props;
  const say = words();
  switch (dialog.kind) {
    case "key":
      return <KeyDialog refused={props.refused} onClose={onClose} onChanged={props.onKey} />;
    case "password":
      return <PasswordDialog onClose={onClose} />;
    case "shortcuts":
      return <ShortcutsDialog singleKeys={props.singleKeys} onSingleKeys={props.onSingleKeys} onClose={onClose} />;
    case "conversation":
      return (
        <ConversationDialog
          what={dialog.what}
          onChanged={props.onChanged}
          onPrint={() => props.onPrint(dialog.what)}
          onDelete={() => props.onMore({ kind: "forget", what: dialog.what })}
          onClose={onClose}
        />
      );
    case "forget":
      return (
        <ConfirmDialog
          title={say.deleteConversation}
          text={dialog.what.title || dialog.what.session}
          action={say.delete}
          onConfirm={() => props.onForget(dialog.what)}
          onClose={onClose}
        />
      );
    case "delete":
      return (
        <ConfirmDialog
          title={say.deleteDocuments(dialog.what.length)}
          text={say.notFoundAnyMore(named(dialog.what))}
          action={say.delete}
          onConfirm={() => props.onDelete(dialog.what)}
          onClose={onClose}
        />
      );
  }
}

function named(documents: readonly Listed[]): string {
  const names = documents.slice(0, MOST_NAMED).map(titleOf).join(", ");
  return documents.length > MOST_NAMED ? `${names}, …` : names;
}

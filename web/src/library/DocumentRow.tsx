import type { Listed } from "../api/types";
import { nameOf } from "../chat/target";
import { IconButton } from "../shell/Button";
import { Icon } from "../shell/Icon";
import { ago } from "../shell/time";
import { safeLink } from "../text/links";
import { words } from "../words/words";

interface Props {
  document: Listed;
  canWrite: boolean;
  selected: boolean;
  onSelect: (selected: boolean) => void;
  onOpen: (document: Listed) => void;
  onAsk: (document: Listed) => void;
  onDelete: (document: Listed) => void;
}

/** A document in the list: its name, kind, size and age, and what can be done with it. */
export function DocumentRow({ document, canWrite, selected, onSelect, onOpen, onAsk, onDelete }: Props) {
  const say = words();
  const name = titleOf(document);
  const about = [
    safeLink(document.url)?.host ?? fileOf(document),
    kindOf(document),
    sizeOf(document),
    document.added && ago(Date.parse(document.added) / 1000),
  ];
  return (
    <li>
      <input
        type="checkbox"
        aria-label={say.select(name)}
        checked={selected}
        onChange={(event) => onSelect(event.target.checked)}
      />
      <button type="button" className="document-open" onClick={() => onOpen(document)}>
        <span className="clip">{name}</span>
        <small className="clip">{about.filter(Boolean).join(" · ")}</small>
        {document.note && (
          <small className="clip" title={document.note}>
            <Icon name="info" /> {document.note}
          </small>
        )}
      </button>
      <IconButton icon="chat" label={say.askDocument(name)} onClick={() => onAsk(document)} />
      {canWrite && <IconButton icon="trash" label={say.deleteNamed(name)} onClick={() => onDelete(document)} />}
    </li>
  );
}

/** Return what a document is called: its title, or the last part of its id, which may be a path. */
export const titleOf = ({ title, document_id }: Pick<Listed, "title" | "document_id">): string =>
  title || nameOf(document_id);

const fileOf = ({ source, document_id }: Listed): string => nameOf(source || document_id);

const kindOf = ({ metadata }: Listed): string => (typeof metadata.kind === "string" ? metadata.kind : "");

function sizeOf({ metadata, characters }: Listed): string {
  const { pages } = metadata;
  if (typeof pages === "number" && pages > 0) return words().pageCount(pages);
  return words().wordCount(Math.max(1, Math.round(characters / 6)));
}

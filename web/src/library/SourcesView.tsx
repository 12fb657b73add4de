import { type RefObject, useState } from "react";
import type { Listed } from "../api/types";
import { IconButton } from "../shell/Button";
import { Icon } from "../shell/Icon";
import { counted } from "../shell/time";
import { safeLink } from "../text/links";
import { UploadList } from "./UploadList";
import { useListing } from "./useListing";
import type { Upload } from "./useUploads";

interface Props {
  search: RefObject<HTMLInputElement | null>;
  uploads: readonly Upload[];
  version: number;
  canWrite: boolean;
  onFiles: (files: FileList) => void;
  onClear: (id: string) => void;
  onOpen: (document: Listed) => void;
  onDelete: (document: Listed) => void;
}

/** The list of documents, with uploading and deleting. */
export function SourcesView({ search, uploads, version, canWrite, onFiles, onClear, onOpen, onDelete }: Props) {
  const [q, setQ] = useState("");
  const { documents, total, next, error, more } = useListing(q, version);
  return (
    <div className="scroll">
      <div className="shelf">
        <header className="shelf-head">
          <h1>Sources</h1>
          {total !== null && <p className="quiet">{counted(total, "document")}</p>}
        </header>
        {canWrite && (
          <label className="drop">
            <Icon name="upload" />
            <span>
              <strong>Add files</strong> or drop them anywhere on this page
            </span>
            <small>PDF, Word, PowerPoint, Excel, HTML, Markdown, e-mail, CSV, archives, and more</small>
            <input
              type="file"
              multiple
              className="visually-hidden"
              onChange={(event) => {
                if (event.target.files?.length) onFiles(event.target.files);
                event.target.value = "";
              }}
            />
          </label>
        )}
        <UploadList uploads={uploads} onClear={onClear} />
        <label className="search">
          <Icon name="search" />
          <span className="visually-hidden">Find a document by name</span>
          <input
            ref={search}
            type="search"
            placeholder="Find by name"
            value={q}
            onChange={(e) => setQ(e.target.value)}
          />
        </label>
        {error && (
          <p className="notice warn" role="alert">
            <Icon name="warn" /> <span>{error}</span>
          </p>
        )}
        {total === 0 && <p className="quiet">{q ? "No document has this name." : "There are no documents yet."}</p>}
        <ul className="documents" aria-label="Documents">
          {documents.map((one) => (
            <Row key={one.document_id} document={one} canWrite={canWrite} onOpen={onOpen} onDelete={onDelete} />
          ))}
        </ul>
        {next && (
          <button type="button" className="button" onClick={() => void more()}>
            Show more
          </button>
        )}
      </div>
    </div>
  );
}

interface RowProps extends Pick<Props, "canWrite" | "onOpen" | "onDelete"> {
  document: Listed;
}

function Row({ document, canWrite, onOpen, onDelete }: RowProps) {
  const name = document.title || document.document_id;
  const told = [safeLink(document.url)?.host ?? fileOf(document), sizeOf(document.characters)];
  return (
    <li>
      <button type="button" className="document-open" onClick={() => onOpen(document)}>
        <span className="clip">{name}</span>
        <small className="clip">{told.filter(Boolean).join(" · ")}</small>
      </button>
      {canWrite && <IconButton icon="trash" label={`Delete: ${name}`} onClick={() => onDelete(document)} />}
    </li>
  );
}

const fileOf = ({ source, document_id }: Listed): string => (source || document_id).split(/[\\/]/).at(-1) ?? "";

const sizeOf = (characters: number): string => {
  const words = Math.round(characters / 6);
  return words < 1000 ? counted(Math.max(words, 1), "word") : `${Math.round(words / 1000)}k words`;
};

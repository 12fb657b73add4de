import { type RefObject, useEffect, useState } from "react";
import type { Listed, Me } from "../api/types";
import { Icon } from "../shell/Icon";
import { words } from "../words/words";
import { DocumentRow } from "./DocumentRow";
import type { Named } from "./folders";
import { UploadForm } from "./UploadForm";
import { UploadList } from "./UploadList";
import { type Order, useListing } from "./useListing";
import type { Upload } from "./useUploads";

interface Props {
  search: RefObject<HTMLInputElement | null>;
  uploads: readonly Upload[];
  version: number;
  me: Me | null;
  onFiles: (files: Named[], groups: readonly string[] | null) => void;
  onPage: (address: string) => void;
  onClear: (id?: string) => void;
  onOpen: (document: Listed) => void;
  onAsk: (documents: readonly Listed[]) => void;
  onDelete: (documents: readonly Listed[]) => void;
}

const ORDERS: readonly Order[] = ["newest", "oldest", "id"];
/** Documents that one question may be confined to. */
const MOST_ASKED = 20;

/** The list of documents, with adding, searching, sorting, asking and deleting. */
export function SourcesView(props: Props) {
  const { search, uploads, version, me, onFiles, onPage, onClear, onOpen, onAsk, onDelete } = props;
  const [q, setQ] = useState("");
  const [order, setOrder] = useState<Order>("newest");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const { documents, total, error, hasMore, more } = useListing(q, order, version);
  const say = words();
  const canWrite = me?.scopes.includes("write") ?? false;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is not listed any more is not chosen
  useEffect(() => setChosen(new Set()), [q, version]);
  const selected = documents.filter((one) => chosen.has(one.document_id));
  const select = (id: string, on: boolean) =>
    setChosen((before) => new Set(on ? [...before, id] : [...before].filter((one) => one !== id)));
  return (
    <div className="scroll">
      <div className="shelf">
        <header className="shelf-head">
          <h1>{say.sources}</h1>
          {total !== null && <p className="quiet">{say.documentCount(total)}</p>}
        </header>
        {canWrite && me && <UploadForm me={me} onFiles={onFiles} onPage={onPage} />}
        <UploadList uploads={uploads} onClear={onClear} />
        <div className="shelf-tools">
          <label className="search grow">
            <Icon name="search" />
            <span className="visually-hidden">{say.findDocument}</span>
            <input
              ref={search}
              type="search"
              placeholder={say.findByName}
              value={q}
              onChange={(e) => setQ(e.target.value)}
            />
          </label>
          <label>
            <span className="visually-hidden">{say.order}</span>
            <select value={order} onChange={(event) => setOrder(event.target.value as Order)}>
              {ORDERS.map((one) => (
                <option key={one} value={one}>
                  {say.orders[one]}
                </option>
              ))}
            </select>
          </label>
        </div>
        {selected.length > 0 && (
          <div className="chosen" role="toolbar" aria-label={say.chosenCount(selected.length)}>
            <span className="grow">{say.chosenCount(selected.length)}</span>
            <button
              type="button"
              className="button small"
              disabled={selected.length > MOST_ASKED}
              onClick={() => onAsk(selected)}
            >
              <Icon name="chat" /> {say.askChosen}
            </button>
            {canWrite && (
              <button type="button" className="button small" onClick={() => onDelete(selected)}>
                <Icon name="trash" /> {say.deleteChosen}
              </button>
            )}
            <button type="button" className="button small bare" onClick={() => setChosen(new Set())}>
              {say.chooseNone}
            </button>
          </div>
        )}
        {error && (
          <p className="notice warn" role="alert">
            <Icon name="warn" /> <span>{error}</span>
          </p>
        )}
        {total === 0 && <p className="quiet">{q ? say.noSuchDocument : say.noDocuments}</p>}
        <ul className="documents" aria-label={say.documents}>
          {documents.map((one) => (
            <DocumentRow
              key={one.document_id}
              document={one}
              canWrite={canWrite}
              selected={chosen.has(one.document_id)}
              onSelect={(on) => select(one.document_id, on)}
              onOpen={onOpen}
              onAsk={(document) => onAsk([document])}
              onDelete={(document) => onDelete([document])}
            />
          ))}
        </ul>
        {hasMore && (
          <button type="button" className="button" onClick={() => void more()}>
            {say.showMore}
          </button>
        )}
      </div>
    </div>
  );
}

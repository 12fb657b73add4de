import { useId, useState } from "react";
import type { Me } from "../api/types";
import { Icon } from "../shell/Icon";
import { words } from "../words/words";
import { chosen, type Named } from "./folders";

interface Props {
  me: Me;
  onFiles: (files: Named[], groups: readonly string[] | null) => void;
  onPage: (address: string) => void;
}

/** Choose files, a whole folder or a web page, and who may read files. */
export function UploadForm({ me, onFiles, onPage }: Props) {
  const say = words();
  const [readers, setReaders] = useState("");
  const [page, setPage] = useState("");
  const names = useId();
  const groups = readers
    .split(/[,;|]/)
    .map((one) => one.trim())
    .filter(Boolean);
  const pick = (event: React.ChangeEvent<HTMLInputElement>) => {
    if (event.target.files?.length) onFiles(chosen(event.target.files), groups.length ? groups : null);
    event.target.value = "";
  };
  return (
    <div className="adding">
      <label className="drop">
        <Icon name="upload" />
        <span>
          <strong>{say.addFiles}</strong> {say.orDrop}
        </span>
        <small>{say.fileKinds}</small>
        <input type="file" multiple className="visually-hidden" onChange={pick} />
      </label>
      <div className="adding-more">
        <label className="button small folder">
          <Icon name="files" /> {say.addFolder}
          <input
            type="file"
            className="visually-hidden"
            ref={(input) => input?.setAttribute("webkitdirectory", "")}
            onChange={pick}
          />
        </label>
        {!me.open && (
          <label className="readers">
            <span>{say.whoMayRead}</span>
            <input
              list={names}
              value={readers}
              placeholder={me.groups ? say.ownGroups(me.groups) : say.everyone}
              onChange={(event) => setReaders(event.target.value)}
            />
            <datalist id={names}>
              {[...(me.groups ?? []), "*"].map((one) => (
                <option key={one} value={one}>
                  {one === "*" ? say.everyone : one}
                </option>
              ))}
            </datalist>
          </label>
        )}
      </div>
      {me.web_pages && (
        <form
          className="adding-more"
          onSubmit={(event) => {
            event.preventDefault();
            onPage(page.trim());
            setPage("");
          }}
        >
          <label className="grow">
            <span className="visually-hidden">{say.webPage}</span>
            <input
              type="url"
              required
              pattern="https?://.+"
              placeholder={say.webPageHint}
              value={page}
              onChange={(event) => setPage(event.target.value)}
            />
          </label>
          <button type="submit" className="button" disabled={!page.trim()}>
            {say.addPage}
          </button>
        </form>
      )}
    </div>
  );
}

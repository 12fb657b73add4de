import { IconButton } from "../shell/Button";
import { Icon } from "../shell/Icon";
import { words } from "../words/words";
import { isOver, type Upload } from "./useUploads";

interface Props {
  uploads: readonly Upload[];
  /** Remove one from the list, or all that are over. */
  onClear: (id?: string) => void;
}

/** Uploads that are shown one by one; of more, those that are over and went well are only counted. */
const MOST = 30;

/** What becomes of uploaded files: those that failed first, then those under way. */
export function UploadList({ uploads, onClear }: Props) {
  if (!uploads.length) return null;
  const say = words();
  const done = uploads.filter((one) => one.state === "done").length;
  const failed = uploads.filter((one) => one.state === "failed").length;
  const order = { failed: 0, reading: 1, locked: 2, sending: 3, queued: 4, done: 5, waiting: 6 };
  const shown = uploads.length > MOST ? [...uploads].sort((a, b) => order[a.state] - order[b.state]) : uploads;
  const over = uploads.every(isOver);
  return (
    <section className="uploads-all" aria-label={say.uploads}>
      {uploads.length > 1 && (
        <div className="uploads-sum">
          <p role="status">
            {say.uploadsReady(done, uploads.length)}
            {failed > 0 && ` · ${say.uploadsFailed(failed)}`}
          </p>
          {!over && <progress aria-label={say.uploads} max={uploads.length} value={done + failed} />}
          {done + failed > 0 && (
            <button type="button" className="button small bare" onClick={() => onClear()}>
              {say.clearUploads}
            </button>
          )}
        </div>
      )}
      <ul className="uploads">
        {shown.slice(0, MOST).map((one) => (
          <li key={one.id} className={one.state}>
            <Icon name={one.state === "done" ? "check" : one.state === "failed" ? "warn" : "upload"} />
            <div className="grow">
              <div className="clip">{one.name}</div>
              <div className="quiet small" role={uploads.length > 1 ? undefined : "status"}>
                {one.told || say.uploadStates[one.state]}
              </div>
              {(one.state === "sending" || one.state === "reading") && (
                <progress
                  aria-label={`${say.uploadStates[one.state]}: ${one.name}`}
                  max={1}
                  {...(one.share > 0 && { value: one.share })}
                />
              )}
            </div>
            {isOver(one) && (
              <IconButton icon="close" label={say.removeFromList(one.name)} onClick={() => onClear(one.id)} />
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

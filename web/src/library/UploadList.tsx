import { IconButton } from "../shell/Button";
import { Icon } from "../shell/Icon";
import type { Upload } from "./useUploads";

interface Props {
  uploads: readonly Upload[];
  onClear: (id: string) => void;
}

const STATES = { sending: "Sending", reading: "Reading and indexing", done: "Ready for questions", failed: "Failed" };

export function UploadList({ uploads, onClear }: Props) {
  if (!uploads.length) return null;
  return (
    <ul className="uploads" aria-label="Uploads">
      {uploads.map((one) => (
        <li key={one.id} className={one.state}>
          <Icon name={one.state === "done" ? "check" : one.state === "failed" ? "warn" : "upload"} />
          <div className="grow">
            <div className="clip">{one.name}</div>
            <div className="quiet small" role="status">
              {one.told || STATES[one.state]}
            </div>
            {(one.state === "sending" || one.state === "reading") && (
              <progress
                aria-label={`${STATES[one.state]}: ${one.name}`}
                max={1}
                {...(one.share > 0 && { value: one.share })}
              />
            )}
          </div>
          {(one.state === "done" || one.state === "failed") && (
            <IconButton icon="close" label={`Remove from the list: ${one.name}`} onClick={() => onClear(one.id)} />
          )}
        </li>
      ))}
    </ul>
  );
}

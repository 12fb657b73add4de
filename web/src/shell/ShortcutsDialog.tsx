import { words } from "../words/words";
import { Modal } from "./Modal";
import { SHORTCUTS } from "./shortcuts";

interface Props {
  singleKeys: boolean;
  onSingleKeys: (on: boolean) => void;
  onClose: () => void;
}

export function ShortcutsDialog({ singleKeys, onSingleKeys, onClose }: Props) {
  return (
    <Modal title={words().shortcuts} onClose={onClose}>
      <dl className="shortcuts">
        {SHORTCUTS.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{words().shortcutList[what]}</dd>
          </div>
        ))}
      </dl>
      <label className="check">
        <input type="checkbox" checked={singleKeys} onChange={(event) => onSingleKeys(event.target.checked)} />
        <span>{words().singleKeys}</span>
      </label>
    </Modal>
  );
}

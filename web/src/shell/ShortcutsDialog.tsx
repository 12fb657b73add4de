import { Modal } from "./Modal";
import { SHORTCUTS } from "./shortcuts";

interface Props {
  singleKeys: boolean;
  onSingleKeys: (on: boolean) => void;
  onClose: () => void;
}

export function ShortcutsDialog({ singleKeys, onSingleKeys, onClose }: Props) {
  return (
    <Modal title="Keyboard shortcuts" onClose={onClose}>
      <dl className="shortcuts">
        {SHORTCUTS.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <label className="check">
        <input type="checkbox" checked={singleKeys} onChange={(event) => onSingleKeys(event.target.checked)} />
        <span>Single-key shortcuts</span>
      </label>
    </Modal>
  );
}

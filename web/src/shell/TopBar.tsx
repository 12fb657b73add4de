import { words } from "../words/words";
import { IconButton } from "./Button";

interface Props {
  title: string;
  drawer: boolean;
  onMenu: () => void;
  onNew: () => void;
}

/** The bar above the conversation on narrow screens. */
export function TopBar({ title, drawer, onMenu, onNew }: Props) {
  return (
    <div className="topbar">
      <IconButton icon="menu" label={words().menu} aria-expanded={drawer} aria-controls="sidebar" onClick={onMenu} />
      <span className="clip">{title}</span>
      <IconButton icon="plus" label={words().newConversation} onClick={onNew} />
    </div>
  );
}

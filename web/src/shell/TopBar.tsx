import { IconButton } from "./Button";

interface Props {
  title: string;
  drawer: boolean;
  onMenu: () => void;
  onNew: () => void;
}

/** What stands above the conversation where there is no room for the menu beside it. */
export function TopBar({ title, drawer, onMenu, onNew }: Props) {
  return (
    <div className="topbar">
      <IconButton icon="menu" label="Menu" aria-expanded={drawer} aria-controls="sidebar" onClick={onMenu} />
      <span className="clip">{title}</span>
      <IconButton icon="plus" label="New conversation" onClick={onNew} />
    </div>
  );
}

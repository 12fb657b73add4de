import type { Conversation } from "../api/types";
import type { Chat } from "../chat/turns";
import { IconButton } from "./Button";
import { Icon } from "./Icon";
import { hashOf, type Route } from "./route";
import { ThemeSwitch } from "./ThemeSwitch";
import { ago } from "./time";

interface Props {
  route: Route;
  conversations: readonly Conversation[];
  /** Conversations whose answer is still being written; a new one is stored only when it is complete. */
  answering: readonly Chat[];
  open: boolean;
  /** Not focusable, because it is off screen. */
  hidden: boolean;
  onClose: () => void;
  onForget: (conversation: Conversation) => void;
  onKey: () => void;
  onShortcuts: () => void;
}

export function Sidebar(props: Props) {
  const { route, conversations, answering, open, hidden, onClose, onForget, onKey, onShortcuts } = props;
  const here = (one: Route) => (hashOf(one) === hashOf(route) ? "page" : undefined);
  const isComing = (session: string) => answering.some((one) => one.session === session);
  const listed = [
    ...answering.filter((one) => conversations.every((kept) => kept.session !== one.session)).map(asListed),
    ...conversations,
  ];
  return (
    <nav
      inert={hidden}
      className={open ? "sidebar open" : "sidebar"}
      aria-label="Conversations and sources"
      id="sidebar"
    >
      <div className="brand">
        <img src={`${import.meta.env.BASE_URL}icon.svg`} alt="" width="28" height="28" />
        <span>Ragstone</span>
        <IconButton icon="close" label="Close the menu" className="drawer-only" onClick={onClose} />
      </div>
      <a className="nav-link strong" href="#/" aria-current={here({ view: "chat", session: null })} onClick={onClose}>
        <Icon name="plus" /> New conversation
      </a>
      <a className="nav-link" href="#/sources" aria-current={here({ view: "sources" })} onClick={onClose}>
        <Icon name="files" /> Sources
      </a>
      <h2 className="nav-title" id="kept">
        Conversations
      </h2>
      {listed.length === 0 && <p className="quiet small pad">No conversations yet.</p>}
      <ul className="conversations" aria-labelledby="kept">
        {listed.map((one) => (
          <li key={one.session}>
            <a
              className="nav-link"
              href={hashOf({ view: "chat", session: one.session })}
              aria-current={here({ view: "chat", session: one.session })}
              onClick={onClose}
            >
              <span className="clip">{one.title || one.session}</span>
              <small>{isComing(one.session) ? "answering" : ago(one.last)}</small>
            </a>
            {one.turns > 0 && (
              <IconButton icon="trash" label={`Delete: ${one.title || one.session}`} onClick={() => onForget(one)} />
            )}
          </li>
        ))}
      </ul>
      <div className="sidebar-foot">
        <ThemeSwitch />
        <IconButton icon="key" label="API key" onClick={onKey} />
        <IconButton icon="keyboard" label="Keyboard shortcuts" onClick={onShortcuts} />
      </div>
    </nav>
  );
}

const asListed = (chat: Chat): Conversation => ({
  session: chat.session,
  title: chat.turns[0]?.question ?? "",
  turns: 0,
  last: 0,
});

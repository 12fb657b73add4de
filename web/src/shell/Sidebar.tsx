import { useEffect, useState } from "react";
import { api } from "../api/client";
import type { Conversation } from "../api/types";
import type { Chat } from "../chat/turns";
import { words } from "../words/words";
import { IconButton } from "./Button";
import { Icon } from "./Icon";
import { LanguageSwitch } from "./LanguageSwitch";
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
  /** Show what can be done with a conversation. */
  onMore: (conversation: Conversation) => void;
  onKey: () => void;
  onShortcuts: () => void;
  isAdmin: boolean;
  /** Who is signed in; null for a key, or where none is needed. */
  person: string | null;
  /** Change the person's password; null if it is not kept here. */
  onPassword: (() => void) | null;
  onSignOut: () => void;
}

/** Conversations from which on they can be searched. */
const SEARCHED = 5;
/** Milliseconds without a key until the server searches. */
const PAUSE = 150;

export function Sidebar(props: Props) {
  const {
    route,
    conversations,
    answering,
    open,
    hidden,
    onClose,
    onMore,
    onKey,
    onShortcuts,
    isAdmin,
    person,
    onPassword,
    onSignOut,
  } = props;
  const here = (one: Route) => (hashOf(one) === hashOf(route) ? "page" : undefined);
  const isComing = (session: string) => answering.some((one) => one.session === session);
  const [q, setQ] = useState("");
  const all = [
    ...answering.filter((one) => conversations.every((kept) => kept.session !== one.session)).map(asListed),
    ...conversations,
  ];
  const found = useFound(q.trim());
  const listed = found ? all.filter((one) => found.has(one.session)) : all;
  const say = words();
  return (
    <nav
      inert={hidden}
      className={open ? "sidebar open" : "sidebar"}
      aria-label={say.conversationsAndSources}
      id="sidebar"
    >
      <div className="brand">
        <img src={`${import.meta.env.BASE_URL}icon.svg`} alt="" width="28" height="28" />
        <span>Ragstone</span>
        <IconButton icon="close" label={say.closeMenu} className="drawer-only" onClick={onClose} />
      </div>
      <a className="nav-link strong" href="#/" aria-current={here({ view: "chat", session: null })} onClick={onClose}>
        <Icon name="plus" /> {say.newConversation}
      </a>
      <a className="nav-link" href="#/sources" aria-current={here({ view: "sources" })} onClick={onClose}>
        <Icon name="files" /> {say.sources}
      </a>
      {isAdmin && (
        <a
          className="nav-link"
          href="#/admin"
          aria-current={route.view === "admin" ? "page" : undefined}
          onClick={onClose}
        >
          <Icon name="gauge" /> {say.administration}
        </a>
      )}
      <h2 className="nav-title" id="kept">
        {say.conversations}
      </h2>
      {all.length >= SEARCHED && (
        <label className="search small">
          <span className="visually-hidden">{say.findConversation}</span>
          <input
            type="search"
            placeholder={say.findConversation}
            value={q}
            onChange={(event) => setQ(event.target.value)}
          />
        </label>
      )}
      {listed.length === 0 && <p className="quiet small pad">{found ? say.noSuchConversation : say.noConversations}</p>}
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
              <small>
                {isComing(one.session) ? say.answering : `${one.pinned ? `${say.pinned} · ` : ""}${ago(one.last)}`}
              </small>
            </a>
            {one.turns > 0 && (
              <IconButton icon="dots" label={say.more(one.title || one.session)} onClick={() => onMore(one)} />
            )}
          </li>
        ))}
      </ul>
      {person !== null && (
        <div className="person">
          <span className="clip" title={say.signedInAs(person)}>
            {person}
          </span>
          {onPassword && <IconButton icon="key" label={say.changePassword} onClick={onPassword} />}
          <button type="button" className="button small" onClick={onSignOut}>
            {say.signOut}
          </button>
        </div>
      )}
      <div className="sidebar-foot">
        <ThemeSwitch />
        <LanguageSwitch />
        {person === null && <IconButton icon="key" label={say.apiKey} onClick={onKey} />}
        <IconButton icon="keyboard" label={say.shortcuts} onClick={onShortcuts} />
      </div>
    </nav>
  );
}

const asListed = (chat: Chat): Conversation => ({
  session: chat.session,
  title: chat.turns[0]?.question ?? "",
  turns: 0,
  last: 0,
  pinned: false,
});

/** Return the sessions whose title, questions or answers have some words; null while none are wanted. */
function useFound(q: string): ReadonlySet<string> | null {
  const [found, setFound] = useState<ReadonlySet<string> | null>(null);
  useEffect(() => {
    if (!q) {
      setFound(null);
      return;
    }
    const stopper = new AbortController();
    const timer = setTimeout(() => {
      api
        .conversations(q, stopper.signal)
        .then((listed) => setFound(new Set(listed.map((one) => one.session))))
        .catch(() => undefined); // the list stays as it is
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      stopper.abort();
    };
  }, [q]);
  return found;
}

import { lazy, type MouseEvent, Suspense, useCallback, useEffect, useRef, useState } from "react";
import { api } from "./api/client";
import type { Conversation, Listed } from "./api/types";
import { ChatView } from "./chat/ChatView";
import { SharedView } from "./chat/SharedView";
import { ofListed, ofPlace } from "./chat/target";
import { targetsOf } from "./chat/targets";
import { isUnderWay } from "./chat/turns";
import { useChat } from "./chat/useChat";
import { type Scoped, scoped } from "./filters/scope";
import { DropZone } from "./library/DropZone";
import type { Named } from "./library/folders";
import { SourcesView } from "./library/SourcesView";
import { useUploads } from "./library/useUploads";
import { useAnnounce } from "./shell/Announcer";
import { type Dialog, Dialogs } from "./shell/Dialogs";
import { hashOf, parsed, useRoute } from "./shell/route";
import { Sidebar } from "./shell/Sidebar";
import { SignInView, signOut } from "./shell/SignInView";
import { useShortcuts, useSingleKeys } from "./shell/shortcuts";
import { TopBar } from "./shell/TopBar";
import { useConnection } from "./shell/useConnection";
import { useConversations } from "./shell/useConversations";
import { useNarrow } from "./shell/useNarrow";
import { useOpened } from "./shell/useOpened";
import { SourcePanel } from "./source/SourcePanel";
import { forgetDocuments } from "./source/useDocument";
import { forgetOriginals } from "./source/useOriginal";
import { useLanguage, words } from "./words/words";

/** Milliseconds after which a stored conversation is on the page, to be printed. */
const SHOWN_AFTER = 800;
/** Administration is loaded when somebody goes there; most people never do. */
const AdminView = lazy(() =>
  import("./admin/AdminView").catch(() => ({ default: () => <p className="notice warn">{words().unreachable}</p> })),
);
const DIGITS = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];

/** The whole page: the menu, the conversation or the sources, and a source beside them. */
export function App() {
  const [route, go] = useRoute();
  const announce = useAnnounce();
  const narrow = useNarrow();
  const connection = useConnection(route.view);
  const [conversations, refresh] = useConversations(connection.version);
  const { opened, open, move, close, drop } = useOpened(narrow);
  const [drawer, setDrawer] = useState(false);
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const [changes, setChanges] = useState(0);
  const [scope, setScope] = useState<readonly Scoped[]>([]);
  useLanguage(); // everything is drawn again when it changes
  const [singleKeys, setSingleKeys] = useSingleKeys();
  const box = useRef<HTMLTextAreaElement>(null);
  const search = useRef<HTMLInputElement>(null);

  // The conversation is kept while the sources are shown.
  const session = useRef<string | null>(null);
  if (route.view === "chat") session.current = route.session;
  const chat = useChat(
    session.current,
    useCallback((asked: string) => go({ view: "chat", session: asked }, "replace"), [go]),
    refresh,
  );
  const last = chat.turns.at(-1);

  const changed = useCallback(() => {
    forgetDocuments();
    forgetOriginals();
    setChanges((held) => held + 1);
  }, []);
  const uploads = useUploads(
    useCallback(
      (name: string) => {
        changed();
        announce(words().canBeAsked(name));
      },
      [changed, announce],
    ),
  );
  useEffect(() => {
    // On a phone the keyboard would cover the suggestions.
    if (matchMedia("(pointer: fine)").matches) box.current?.focus();
  }, []);
  const canWrite = connection.me?.scopes.includes("write") ?? false;
  const addFiles = (files: readonly Named[], groups: readonly string[] | null = null) => {
    uploads.add(files, groups);
    go({ view: "sources" });
  };
  const askOnly = (documents: readonly Listed[]) => {
    setScope(scoped(documents));
    go({ view: "chat", session: session.current });
    requestAnimationFrame(() => box.current?.focus());
  };

  const place = `${session.current} ${route.view === "sources" || route.view === "shared" ? hashOf(route) : ""}`;
  const address = hashOf(route);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a source closes when its view does
  useEffect(() => {
    drop();
    setDrawer(false);
    const named = parsed(address);
    if (named.view === "sources" && named.cited) open("", [ofPlace(named.cited)], 0);
  }, [place, drop, open]);

  const openNumber = (number: number) => {
    const targets = last && route.view === "chat" ? targetsOf(last) : [];
    if (last && targets[number - 1]) open(last.id, targets, number - 1);
  };
  const onEscape = () => {
    if (drawer) setDrawer(false);
    else if (opened) close();
    else if (isUnderWay(last)) chat.stop();
    else box.current?.blur();
  };
  const newChat = () => {
    go({ view: "chat", session: null });
    box.current?.focus();
  };
  useShortcuts(
    {
      "/": () => (route.view === "sources" ? search : box).current?.focus(),
      n: newChat,
      s: () => go(route.view === "sources" ? { view: "chat", session: session.current } : { view: "sources" }),
      "?": () => setDialog({ kind: "shortcuts" }),
      "[": () => opened && move(opened.at - 1),
      "]": () => opened && move(opened.at + 1),
      ...Object.fromEntries(DIGITS.map((digit) => [digit, () => openNumber(Number(digit))])),
      Escape: onEscape,
    },
    singleKeys,
  );

  const say = words();
  const forget = async (what: Conversation) => {
    chat.stop(what.session);
    await api.forget(what.session);
    refresh();
    if (what.session === session.current) go({ view: "chat", session: null });
    announce(say.conversationDeleted);
  };
  const remove = async (what: readonly Listed[]) => {
    try {
      for (const one of what) await api.remove(one.document_id);
    } finally {
      changed();
      drop();
    }
    setScope((held) => held.filter((one) => what.every((gone) => gone.document_id !== one.id)));
    announce(say.documentsDeleted(what.length));
  };
  const print = async (what: Conversation) => {
    setDialog(null);
    go({ view: "chat", session: what.session });
    await new Promise((done) => setTimeout(done, SHOWN_AFTER));
    window.print();
  };
  const skip = (event: MouseEvent) => {
    event.preventDefault();
    (route.view === "sources" ? search : box).current?.focus();
  };

  const titles = {
    admin: say.administration,
    sources: say.sources,
    shared: say.sharedConversation,
    chat: chat.turns[0]?.question ?? "Ragstone",
  };
  const mustSignIn = connection.refused !== "" && connection.ways !== null;
  const asked: Dialog | null = dialog ?? (connection.refused && !mustSignIn ? { kind: "key" } : null);
  const dialogs = asked && (
    <Dialogs
      dialog={asked}
      refused={mustSignIn ? "" : connection.refused}
      singleKeys={singleKeys}
      onSingleKeys={setSingleKeys}
      onKey={() => {
        forgetDocuments();
        forgetOriginals();
        connection.connect();
      }}
      onForget={forget}
      onMore={(next) => setDialog(next)}
      onChanged={refresh}
      onPrint={(what) => void print(what)}
      onDelete={remove}
      onClose={() => {
        setDialog(null);
        if (!mustSignIn) connection.heard();
      }}
    />
  );
  if (mustSignIn && connection.ways) {
    return (
      <>
        <SignInView ways={connection.ways} onKey={() => setDialog({ kind: "key" })} />
        {dialogs}
      </>
    );
  }
  return (
    <div className={opened ? "app with-source" : "app"}>
      <a className="skip" href="#main" onClick={skip}>
        {route.view === "sources" ? say.goToSearch : say.goToQuestion}
      </a>
      <Sidebar
        route={route}
        conversations={conversations}
        answering={chat.answering}
        open={drawer}
        hidden={narrow && !drawer}
        onClose={() => setDrawer(false)}
        onMore={(what) => setDialog({ kind: "conversation", what })}
        onKey={() => setDialog({ kind: "key" })}
        onShortcuts={() => setDialog({ kind: "shortcuts" })}
        isAdmin={connection.me?.scopes.includes("admin") ?? false}
        person={connection.me?.person ?? null}
        onPassword={connection.me?.has_password ? () => setDialog({ kind: "password" }) : null}
        onSignOut={() => void signOut().catch(connection.connect)}
      />
      {drawer && <div className="backdrop" aria-hidden="true" onClick={() => setDrawer(false)} />}
      <main id="main" inert={(narrow && opened !== null) || (narrow && drawer)}>
        <TopBar title={titles[route.view]} drawer={drawer} onMenu={() => setDrawer(true)} onNew={newChat} />
        {connection.lost && (
          <p className="banner" role="alert">
            {connection.lost}{" "}
            <button type="button" className="button small" onClick={connection.connect}>
              {say.tryAgain}
            </button>
          </p>
        )}
        {route.view === "admin" ? (
          connection.me && (
            <Suspense fallback={<p className="quiet pad">{say.loading}</p>}>
              <AdminView tab={route.tab} />
            </Suspense>
          )
        ) : route.view === "sources" ? (
          <SourcesView
            search={search}
            uploads={uploads.uploads}
            version={changes + connection.version}
            me={connection.me}
            onFiles={addFiles}
            onPage={uploads.addPage}
            onClear={uploads.clear}
            onOpen={(one) => open("", [ofListed(one)], 0)}
            onAsk={askOnly}
            onDelete={(what) => setDialog({ kind: "delete", what })}
          />
        ) : route.view === "shared" ? (
          <SharedView
            key={connection.version}
            secret={route.secret}
            opened={opened && { turn: opened.turn, at: opened.at }}
            onOpen={open}
            onCopied={(copy) => {
              refresh();
              go({ view: "chat", session: copy });
            }}
          />
        ) : (
          <ChatView
            key={connection.version}
            chat={chat}
            box={box}
            opened={opened && { turn: opened.turn, at: opened.at }}
            onOpen={open}
            canWrite={canWrite}
            canAttach={(connection.me?.attached_files ?? 0) > 0}
            canShow={connection.me?.pictures ?? false}
            canConnect={(connection.me?.scopes.includes("admin") && !connection.me.writes) ?? false}
            models={connection.me?.models ?? []}
            scope={scope}
            onScope={setScope}
          />
        )}
      </main>
      {opened && <SourcePanel targets={opened.targets} at={opened.at} onMove={move} onClose={close} />}
      {canWrite && route.view !== "chat" && <DropZone told={say.dropToAdd} onFiles={addFiles} />}
      {dialogs}
    </div>
  );
}

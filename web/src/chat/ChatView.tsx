import { type RefObject, useEffect, useRef, useState } from "react";
import type { Suggestion } from "../api/types";
import { both, confined, type Scoped } from "../filters/scope";
import { useCollections } from "../filters/useCollections";
import { DropZone } from "../library/DropZone";
import { useAnnounce } from "../shell/Announcer";
import { plainOf } from "../text/markdown";
import { words } from "../words/words";
import { Composer } from "./Composer";
import { FollowUps } from "./FollowUps";
import { pictured } from "./pictured";
import { TurnView } from "./TurnView";
import type { Target } from "./target";
import { type Effort, isUnderWay, type Turn } from "./turns";
import { useAttached } from "./useAttached";
import type { Chatting } from "./useChat";
import { Welcome } from "./Welcome";

interface Props {
  chat: Chatting;
  box: RefObject<HTMLTextAreaElement | null>;
  opened: { turn: string; at: number } | null;
  onOpen: (turn: string, targets: Target[], at: number) => void;
  canWrite: boolean;
  /** Whether the reader may attach files to a conversation. */
  canAttach: boolean;
  /** Whether a question may have a picture. */
  canShow: boolean;
  /** Whether the reader could connect a language model, and there is none. */
  canConnect: boolean;
  /** The language models to choose from. */
  models: readonly string[];
  scope: readonly Scoped[];
  onScope: (change: readonly Scoped[] | ((scope: readonly Scoped[]) => readonly Scoped[])) => void;
}

export function ChatView(props: Props) {
  const { chat, box, opened, onOpen, canWrite, canAttach, canShow, canConnect, models, scope, onScope } = props;
  const { turns } = chat;
  const last = turns.at(-1);
  const end = useRef<HTMLLIElement>(null);
  const [question, setQuestion] = useState("");
  useTold(last);
  const collections = useCollections();
  const attaching = useAttached(chat.session, chat.begin, onScope);
  const [chosen, setChosen] = useState("");
  const [effort, setEffort] = useState<Effort>("quick");
  const collection = collections.find((one) => one.name === chosen) ?? null;
  const askSuggested = ({ question, document_id: id, title }: Suggestion) =>
    chat.ask(question, id ? confined([{ id, title }], "") : (collection?.where ?? ""), "quick");

  // A new question moves to the top and its answer grows below it, so that the text does not move while it is read.
  const asked = isUnderWay(last) ? last?.id : undefined;
  useEffect(() => {
    if (asked) end.current?.scrollIntoView({ block: "start" });
  }, [asked]);

  return (
    <>
      <div className="scroll" key={chat.session}>
        {turns.length === 0 && !chat.loading && (
          <Welcome collection={collection} onAsk={askSuggested} canWrite={canWrite} canConnect={canConnect} />
        )}
        {turns.length > 0 && <h1 className="visually-hidden">{words().conversation}</h1>}
        <ol className="turns">
          {turns.map((turn) => (
            <li key={turn.id} ref={turn === last ? end : null}>
              <TurnView
                turn={turn}
                collections={collections}
                ending={chat.ending === turn.id}
                opened={opened?.turn === turn.id ? opened.at : null}
                onOpen={(targets, at) => onOpen(turn.id, targets, at)}
                onAgain={() => chat.again(turn)}
                onEdit={() => {
                  setQuestion(pictured(turn.question).typed);
                  box.current?.focus();
                }}
                onVote={(vote, more) => chat.vote(turn, vote, more)}
              />
              {turn === last && !isUnderWay(turn) && (
                <FollowUps turn={turn} asked={turns.map((one) => one.question)} onAsk={askSuggested} />
              )}
            </li>
          ))}
        </ol>
      </div>
      <Composer
        box={box}
        underWay={isUnderWay(last)}
        before={last?.question ?? ""}
        collections={collections}
        collection={collection}
        onCollection={setChosen}
        attaching={canAttach ? attaching : null}
        canShow={canShow}
        scope={scope}
        onScope={onScope}
        models={models}
        effort={effort}
        onEffort={setEffort}
        model={chat.model}
        onModel={chat.onModel}
        question={question}
        onQuestion={setQuestion}
        onAsk={(question, where, picture) => chat.ask(question, both(collection?.where ?? "", where), effort, picture)}
        onStop={() => chat.stop()}
      />
      {canAttach && (
        <DropZone told={words().dropToAsk} onFiles={(files) => void attaching.attach(files.map(({ file }) => file))} />
      )}
    </>
  );
}

/** Announce the progress of an answer to screen readers, and read it out when it is complete. */
function useTold(turn: Turn | undefined): void {
  const announce = useAnnounce();
  const state = turn?.state;
  const answer = turn?.answer;
  const error = turn?.error;
  const wasUnderWay = useRef(false);
  useEffect(() => {
    if (state === "searching") announce(words().searching);
    else if (wasUnderWay.current && state === "stopped") announce(words().stopped);
    else if (wasUnderWay.current && state === "failed") announce(error ?? "");
    else if (wasUnderWay.current && answer) {
      const cited = answer.citations.length ? ` ${words().citationCount(answer.citations.length)}.` : "";
      announce(`${words().answerIs(plainOf(answer.answer))}${cited}`);
    }
    wasUnderWay.current = state === "searching" || state === "writing";
  }, [state, answer, error, announce]);
}

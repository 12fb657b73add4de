import { useCallback, useEffect, useReducer, useRef, useState } from "react";
import { api } from "../api/client";
import { isAbort, told } from "../api/errors";
import { randomId } from "../shell/ids";
import { isAnswering, reduceAll } from "./chats";
import { restored } from "./restore";
import { type Chat, type Effort, isUnderWay, type Turn, type Vote } from "./turns";

/** What the server calls an effort; a report is research with sections. */
const level = (effort: Effort) => (effort === "report" ? ({ effort: "research", report: true } as const) : { effort });

export interface Chatting {
  session: string;
  turns: readonly Turn[];
  loading: boolean;
  /** Other conversations whose answers are still being written. */
  answering: readonly Chat[];
  /** The language model that was chosen for this conversation; empty for the default. */
  model: string;
  onModel: (model: string) => void;
  /** Return the name of the conversation; begin one if there is none yet. */
  begin: () => string;
  /** Ask a question, about a picture if there is one: its address, which has the picture itself. */
  ask: (question: string, where: string, effort: Effort, picture?: string) => void;
  again: (turn: Turn) => void;
  /** The turn whose research was told to end with what stands so far. */
  ending: string;
  /** Stop the answer; the first time, research only ends with what stands so far. */
  stop: (session?: string) => void;
  vote: (turn: Turn, vote: Vote, more?: { reason?: string; correction?: string }) => Promise<void>;
}

/**
 * One conversation: what was kept of it, and the question under way; an answer goes on when another conversation is
 * opened. `onAsked` is told when a question is sent.
 */
export function useChat(session: string | null, onAsked: (session: string) => void, onDone: () => void): Chatting {
  const [chats, dispatch] = useReducer(reduceAll, {
    shown: { session: session ?? "", turns: [], loading: session !== null },
    left: [],
  });
  const chat = chats.shown;
  const [models, setModels] = useState<Readonly<Record<string, string>>>({});
  const model = models[chat.session] ?? "";
  const [ending, setEnding] = useState("");
  const running = useRef(new Map<string, AbortController>());

  useEffect(() => {
    if (session === (chat.session || null)) return;
    dispatch({ type: "opened", session: session ?? "", loading: session !== null });
  }, [session, chat.session]);

  useEffect(() => {
    if (!chat.loading) return;
    const opened = chat.session;
    restored(opened)
      .then((turns) => dispatch({ type: "loaded", session: opened, turns }))
      .catch(() => dispatch({ type: "loaded", session: opened, turns: [] }));
  }, [chat.loading, chat.session]);

  useEffect(() => {
    const all = running.current;
    return () => {
      for (const one of all.values()) one.abort();
    };
  }, []);

  const begin = useCallback(() => {
    const named = chat.session || randomId();
    if (!chat.session) {
      dispatch({ type: "opened", session: named, loading: false });
      setModels((held) => ({ ...held, "": "", [named]: model }));
      onAsked(named);
    }
    return named;
  }, [chat.session, model, onAsked]);
  const send = useCallback(
    async (id: string, question: string, where: string, effort: Effort, picture: string) => {
      const named = begin();
      running.current.get(named)?.abort();
      const stopper = new AbortController();
      running.current.set(named, stopper);
      setEnding("");
      dispatch({ type: "asked", session: named, id, question, where, effort, picture });
      onAsked(named);
      try {
        const also = { ...(where && { where }), ...(model && { model }), ...(picture && { picture }) };
        const asked = { question, session: named, ...also };
        const events =
          effort === "quick"
            ? api.ask(asked, stopper.signal)
            : api.research({ ...asked, ...level(effort), run: id, explain: true }, stopper.signal);
        for await (const event of events) dispatch({ type: "event", session: named, id, event });
        onDone();
      } catch (error) {
        if (isAbort(error)) dispatch({ type: "stopped", session: named, id });
        else dispatch({ type: "failed", session: named, id, error: told(error) });
      }
    },
    [begin, model, onAsked, onDone],
  );

  const last = chat.turns.at(-1);
  const stop = useCallback(
    (which?: string) => {
      const abort = () => running.current.get(which ?? chat.session)?.abort();
      if (
        which !== undefined ||
        last?.state !== "searching" ||
        (last.effort ?? "quick") === "quick" ||
        last.id === ending
      ) {
        abort();
        return;
      }
      setEnding(last.id);
      api.stopResearch(last.id).catch(abort);
    },
    [chat.session, last, ending],
  );
  const vote = useCallback(
    async (turn: Turn, given: Vote, more: { reason?: string; correction?: string } = {}) => {
      if (!turn.answer) return;
      const where = { type: "voted", session: chat.session, id: turn.id } as const;
      dispatch({ ...where, vote: given });
      try {
        await api.feedback({ response_id: turn.answer.response_id, vote: given, ...more });
      } catch (error) {
        dispatch({ ...where, vote: turn.vote });
        throw error;
      }
    },
    [chat.session],
  );

  return {
    session: chat.session,
    turns: chat.turns,
    loading: chat.loading,
    answering: chats.left.filter(isAnswering),
    model,
    onModel: (chosen) => setModels((held) => ({ ...held, [chat.session]: chosen })),
    begin,
    ask: (question, where, effort, picture = "") => {
      if (!isUnderWay(last)) void send(randomId(), question, where, effort, picture);
    },
    again: (turn) => void send(turn.id, turn.question, turn.where, turn.effort ?? "quick", turn.picture ?? ""),
    ending,
    stop,
    vote,
  };
}

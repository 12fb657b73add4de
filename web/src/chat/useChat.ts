import { useCallback, useEffect, useReducer, useRef } from "react";
import { api } from "../api/client";
import { isAbort, told } from "../api/errors";
import { randomId } from "../shell/ids";
import { restored } from "./restore";
import { isUnderWay, reduce, type Turn, type Vote } from "./turns";

export interface Chatting {
  session: string;
  turns: readonly Turn[];
  loading: boolean;
  ask: (question: string, where: string) => void;
  again: (turn: Turn) => void;
  stop: () => void;
  vote: (turn: Turn, vote: Vote, more?: { reason?: string; correction?: string }) => Promise<void>;
}

/** One conversation: what was kept of it, and the question under way. `onAsked` is told when a question is sent. */
export function useChat(session: string | null, onAsked: (session: string) => void, onDone: () => void): Chatting {
  const [chat, dispatch] = useReducer(reduce, { session: session ?? "", turns: [], loading: session !== null });
  const running = useRef<AbortController | null>(null);

  useEffect(() => {
    if (session === (chat.session || null)) return;
    running.current?.abort();
    dispatch({ type: "opened", session: session ?? "", loading: session !== null });
  }, [session, chat.session]);

  useEffect(() => {
    if (!chat.loading) return;
    const opened = chat.session;
    restored(opened)
      .then((turns) => dispatch({ type: "loaded", session: opened, turns }))
      .catch(() => dispatch({ type: "loaded", session: opened, turns: [] }));
  }, [chat.loading, chat.session]);

  useEffect(() => () => running.current?.abort(), []);

  const send = useCallback(
    async (id: string, question: string, where: string) => {
      running.current?.abort();
      const stopper = new AbortController();
      running.current = stopper;
      const named = chat.session || randomId();
      if (!chat.session) dispatch({ type: "opened", session: named, loading: false });
      dispatch({ type: "asked", id, question, where });
      onAsked(named);
      try {
        const asked = where ? { question, where, session: named } : { question, session: named };
        for await (const event of api.ask(asked, stopper.signal)) dispatch({ type: "event", id, event });
        onDone();
      } catch (error) {
        if (isAbort(error)) dispatch({ type: "stopped", id });
        else dispatch({ type: "failed", id, error: told(error) });
      }
    },
    [chat.session, onAsked, onDone],
  );

  const stop = useCallback(() => running.current?.abort(), []);
  const vote = useCallback(async (turn: Turn, given: Vote, more: { reason?: string; correction?: string } = {}) => {
    if (!turn.answer) return;
    dispatch({ type: "voted", id: turn.id, vote: given });
    try {
      await api.feedback({ response_id: turn.answer.response_id, vote: given, ...more });
    } catch (error) {
      dispatch({ type: "voted", id: turn.id, vote: turn.vote });
      throw error;
    }
  }, []);

  return {
    session: chat.session,
    turns: chat.turns,
    loading: chat.loading,
    ask: (question, where) => {
      if (!isUnderWay(chat.turns.at(-1))) void send(randomId(), question, where);
    },
    again: (turn) => void send(turn.id, turn.question, turn.where),
    stop,
    vote,
  };
}

import { type Action, type Chat, changed, isUnderWay, reduce, type Turn } from "./turns";

/** The current conversation, and others whose answers are still being written. */
export interface Chats {
  shown: Chat;
  left: readonly Chat[];
}

export type ChatsAction = Action | { type: "opened"; session: string; loading: boolean };

export const isAnswering = (chat: Chat): boolean => isUnderWay(chat.turns.at(-1));

export function reduceAll(chats: Chats, action: ChatsAction): Chats {
  if (action.type !== "opened") {
    const within = (chat: Chat) => (chat.session === action.session ? withSteps(reduce(chat, action), action) : chat);
    return { shown: within(chats.shown), left: chats.left.map(within) };
  }
  const { shown, left } = chats;
  const held = left.find((chat) => chat.session === action.session);
  const others = left.filter((chat) => chat !== held);
  return {
    shown: held ?? { session: action.session, turns: [], loading: action.loading },
    left: isAnswering(shown) ? [...others, shown] : others,
  };
}

/** Add what research tells before its answer; the chat on other sites has no research. */
function withSteps(chat: Chat, action: Action): Chat {
  if (action.type !== "event") return chat;
  const { event } = action;
  const add = (change: (turn: Turn) => Turn) => changed(chat, action.id, change);
  if (event.type === "forecast") return add((turn) => ({ ...turn, forecast: event.forecast }));
  if (event.type === "action") return add((turn) => ({ ...turn, steps: [...(turn.steps ?? []), event.action] }));
  return chat;
}

import { type Action, type Chat, isUnderWay, reduce } from "./turns";

/** The current conversation, and others whose answers are still being written. */
export interface Chats {
  shown: Chat;
  left: readonly Chat[];
}

export type ChatsAction = Action | { type: "opened"; session: string; loading: boolean };

export const isAnswering = (chat: Chat): boolean => isUnderWay(chat.turns.at(-1));

export function reduceAll(chats: Chats, action: ChatsAction): Chats {
  if (action.type !== "opened") {
    const within = (chat: Chat) => (chat.session === action.session ? reduce(chat, action) : chat);
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

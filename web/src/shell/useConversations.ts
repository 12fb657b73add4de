import { useCallback, useEffect, useState } from "react";
import { api } from "../api/client";
import type { Conversation } from "../api/types";

/** The stored conversations, and a function that reloads them; they reload when the key changes. */
export function useConversations(version: number): [readonly Conversation[], () => void] {
  const [conversations, setConversations] = useState<readonly Conversation[]>([]);
  const refresh = useCallback(() => {
    api
      .conversations()
      .then(setConversations)
      .catch(() => undefined); // the list is as it was
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another key has other conversations
  useEffect(refresh, [refresh, version]);
  return [conversations, refresh];
}

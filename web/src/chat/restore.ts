import { api } from "../api/client";
import type { KeptTurn } from "../api/types";
import { fresh, type Turn } from "./turns";

/** Load a stored conversation; answers have their citations if the server still keeps them. */
export async function restored(session: string): Promise<Turn[]> {
  const kept = await api.conversation(session);
  return Promise.all(kept.map((one, number) => whole(`${session}/${number}`, one)));
}

async function whole(id: string, kept: KeptTurn): Promise<Turn> {
  const turn: Turn = { ...fresh(id, kept.question), state: "done", text: kept.answer };
  if (!kept.response_id) return turn;
  try {
    const { answer, feedback } = await api.response(kept.response_id);
    return { ...turn, answer, vote: feedback[0]?.vote ?? null };
  } catch {
    return turn; // too old: its words are kept, its citations are not
  }
}

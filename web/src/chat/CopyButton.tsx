import { useState } from "react";
import { useAnnounce } from "../shell/Announcer";
import { IconButton } from "../shell/Button";
import { words } from "../words/words";
import { originOf } from "./origin";
import { targetsOf } from "./targets";
import type { Turn } from "./turns";

/** Return the answer as plain text, followed by its sources. */
export function asText(turn: Turn): string {
  const cited = targetsOf(turn).filter((target) => target.marker !== null);
  const lines = cited.map((one) => {
    const where = [one.title, originOf(one), one.url].filter(Boolean).join(", ");
    return `[${one.marker}] ${where}: “${one.quote}”`;
  });
  return [turn.text, ...(lines.length ? [lines.join("\n")] : [])].join("\n\n");
}

export function CopyButton({ text, label }: { text: () => string; label: string }) {
  const announce = useAnnounce();
  const [done, setDone] = useState(false);
  // Browsers offer no clipboard to pages served over plain HTTP by another machine.
  if (!navigator.clipboard) return null;
  const copy = async () => {
    await navigator.clipboard.writeText(text());
    setDone(true);
    announce(words().copied);
    setTimeout(() => setDone(false), 2000);
  };
  return <IconButton icon={done ? "check" : "copy"} label={label} onClick={() => void copy()} />;
}

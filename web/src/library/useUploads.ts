import { useCallback, useRef, useState } from "react";
import { api } from "../api/client";
import { isAbort, told } from "../api/errors";
import type { Job } from "../api/types";
import { randomId } from "../shell/ids";
import { words } from "../words/words";
import type { Named } from "./folders";

export interface Upload {
  id: string;
  name: string;
  state: "waiting" | "sending" | "queued" | "locked" | "reading" | "done" | "failed";
  /** Progress of the current step, 0 to 1. */
  share: number;
  told: string;
}

export const isOver = (upload: Upload): boolean => upload.state === "done" || upload.state === "failed";

const PAUSE = 400;
/** Files that are sent at once; the others wait. */
const AT_ONCE = 3;

/** Upload files, a few at a time, and follow each until questions can find it. */
export function useUploads(onDone: (name: string) => void) {
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const waiting = useRef<(() => Promise<void>)[]>([]);
  const running = useRef(0);

  const next = useCallback(() => {
    while (running.current < AT_ONCE) {
      const start = waiting.current.shift();
      if (!start) return;
      running.current++;
      void start().finally(() => {
        running.current--;
        next();
      });
    }
  }, []);
  const follow = useCallback(
    (all: readonly { name: string; begin: Begin }[]) => {
      const added = all.map((one) => ({ id: randomId(), ...one }));
      setUploads((held) => [
        ...added.map(({ id, name }): Upload => ({ id, name, state: "waiting", share: 0, told: "" })),
        ...held,
      ]);
      for (const { id, name, begin } of added) {
        const change = (part: Partial<Upload>) =>
          setUploads((all) => all.map((one) => (one.id === id ? { ...one, ...part } : one)));
        waiting.current.push(async () => {
          try {
            change({ state: "sending" });
            const job = await taken(begin, change);
            change({ state: "done", share: 1, told: outcome(job) });
            onDone(name);
          } catch (error) {
            if (!isAbort(error)) change({ state: "failed", told: told(error) });
          }
        });
      }
      next();
    },
    [onDone, next],
  );
  const add = useCallback(
    (files: readonly Named[], groups: readonly string[] | null) =>
      follow(
        files.map(({ name, file }) => ({
          name,
          begin: (onShare) => api.upload(file, name, groups, onShare, new AbortController().signal),
        })),
      ),
    [follow],
  );
  const addPage = useCallback(
    (address: string) => follow([{ name: address, begin: () => api.addPage(address) }]),
    [follow],
  );
  const clear = useCallback(
    (id?: string) => setUploads((all) => all.filter((one) => (id ? one.id !== id : !isOver(one)))),
    [],
  );
  return { uploads, add, addPage, clear };
}

/** Begins an upload and returns its job; is told of the share that is sent. */
type Begin = (onShare: (share: number) => void) => Promise<Job>;

/** Begin an upload, tell of its progress, and return its job once that has ended. */
export async function taken(begin: Begin, change: (part: Partial<Upload>) => void): Promise<Job> {
  let job = await begin((share) => change({ share }));
  while (job.state === "waiting" || job.state === "running") {
    change({ state: step(job), share: job.progress.share });
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
    job = await api.job(job.job_id);
  }
  return job;
}

/** Return what becomes of a file whose job has not ended. */
export function step({ state, progress }: Job): Upload["state"] {
  if (state === "waiting") return "queued";
  return progress.waiting ? "locked" : "reading";
}

/** Return the outcome. A file that gave no document has failed, even if its job has not. */
export function outcome({ state, error, report, document_ids }: Job): string {
  if (state === "failed") throw new Error(error ?? words().unreadable);
  const skipped = report?.skipped[0]?.reason;
  if (skipped && !document_ids.length) throw new Error(skipped);
  if (skipped) return words().readyExcept(skipped);
  const notes = [...(report?.decoded.map((one) => one.note) ?? []), ...(report?.notices ?? [])];
  if (notes.length) return [words().uploadStates.done, ...new Set(notes)].join("; ");
  return report?.unchanged && !document_ids.length ? words().unchanged : "";
}

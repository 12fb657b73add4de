import { useCallback, useState } from "react";
import { api } from "../api/client";
import { isAbort, told } from "../api/errors";
import type { Job } from "../api/types";
import { randomId } from "../shell/ids";

export interface Upload {
  id: string;
  name: string;
  state: "sending" | "reading" | "done" | "failed";
  /** Progress of the current step, 0 to 1. */
  share: number;
  told: string;
}

const PAUSE = 400;

/** Upload files and follow each until questions can find it. */
export function useUploads(onDone: (name: string) => void) {
  const [uploads, setUploads] = useState<readonly Upload[]>([]);

  const add = useCallback(
    (files: Iterable<File>) => {
      for (const file of files) {
        const id = randomId();
        const change = (part: Partial<Upload>) =>
          setUploads((all) => all.map((one) => (one.id === id ? { ...one, ...part } : one)));
        setUploads((all) => [{ id, name: file.name, state: "sending", share: 0, told: "" }, ...all]);
        taken(file, change)
          .then((report) => {
            change({ state: "done", share: 1, told: report });
            onDone(file.name);
          })
          .catch((error) => !isAbort(error) && change({ state: "failed", told: told(error) }));
      }
    },
    [onDone],
  );
  const clear = useCallback((id: string) => setUploads((all) => all.filter((one) => one.id !== id)), []);
  return { uploads, add, clear };
}

async function taken(file: File, change: (part: Partial<Upload>) => void): Promise<string> {
  const stopper = new AbortController();
  let job = await api.upload(file, (share) => change({ share }), stopper.signal);
  while (job.state === "waiting" || job.state === "running") {
    change({ state: "reading", share: job.progress.share });
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
    job = await api.job(job.job_id);
  }
  return outcome(job);
}

/** Return the outcome. A file that gave no document has failed, even if its job has not. */
function outcome({ state, error, report, document_ids }: Job): string {
  if (state === "failed") throw new Error(error ?? "The file could not be read.");
  const skipped = report?.skipped[0]?.reason;
  if (skipped && !document_ids.length) throw new Error(skipped);
  if (skipped) return `Ready for questions, except for a part: ${skipped}`;
  return report?.unchanged && !document_ids.length ? "Already stored, unchanged" : "";
}

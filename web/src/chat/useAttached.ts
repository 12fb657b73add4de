import { useCallback, useState } from "react";
import { api } from "../api/client";
import { told } from "../api/errors";
import type { Scoped } from "../filters/scope";
import { outcome, taken } from "../library/useUploads";
import { words } from "../words/words";
import { nameOf } from "./target";

/** Documents of one file that questions are confined to; a table has one for each row. */
const MOST = 10;

/** Upload files from the question box; the next questions are confined to them. */
export function useAttached(
  onScope: (change: (scope: readonly Scoped[]) => readonly Scoped[]) => void,
  onAdded: () => void,
) {
  const [states, setStates] = useState<Readonly<Record<string, string>>>({});
  const attach = useCallback(
    async (files: readonly File[]) => {
      const tell = (name: string, state: string) => setStates((all) => ({ ...all, [name]: state }));
      for (const file of files) {
        try {
          const job = await taken(
            (onShare) => api.upload(file, file.name, null, onShare, new AbortController().signal),
            ({ state }) => state && tell(file.name, words().uploadStates[state]),
          );
          const said = outcome(job); // an error if the file gave no document
          const ids = job.document_ids;
          const isFew = ids.length > 0 && ids.length <= MOST;
          if (isFew)
            onScope((scope) => [
              ...scope.filter((one) => !ids.includes(one.id)),
              ...ids.map((id) => ({ id, title: nameOf(id) })),
            ]);
          tell(file.name, isFew ? "" : said || words().uploadStates.done);
          onAdded();
        } catch (error) {
          tell(file.name, told(error));
        }
      }
    },
    [onScope, onAdded],
  );
  return { attached: Object.entries(states).filter(([, state]) => state), attach };
}

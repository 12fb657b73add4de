import { useCallback, useEffect, useRef, useState } from "react";
import { api } from "../api/client";
import { told } from "../api/errors";
import type { Attachment } from "../api/types";
import type { Scoped } from "../filters/scope";
import { outcome, taken } from "../library/useUploads";
import { words } from "../words/words";

/** Documents of one file that questions are confined to; a table has one for each row. */
const MOST = 10;

export interface FileState {
  name: string;
  told: string;
  failed: boolean;
}

export interface Attaching {
  /** The files of the conversation. */
  files: readonly Attachment[];
  /** Files that are being read, or could not be, with what is told of each. */
  states: readonly FileState[];
  attach: (files: readonly File[]) => Promise<void>;
  detach: (file: Attachment) => Promise<void>;
  /** Take a file that could not be read off the list. */
  dismiss: (name: string) => void;
}

/**
 * The files that are attached to a conversation. The next questions are confined to a new one. `begin` returns the name
 * of the conversation, and begins one if there is none.
 */
export function useAttached(
  session: string,
  begin: () => string,
  onScope: (change: (scope: readonly Scoped[]) => readonly Scoped[]) => void,
): Attaching {
  const [files, setFiles] = useState<readonly Attachment[]>([]);
  const [states, setStates] = useState<readonly FileState[]>([]);
  const shown = useRef(session);
  shown.current = session;
  const load = useCallback(async (of: string) => {
    const found = of ? await api.attachments(of).catch(() => []) : [];
    if (shown.current === of) setFiles(found);
  }, []);
  const begun = useRef("");
  useEffect(() => {
    if (begun.current !== session) setStates([]);
    void load(session);
  }, [session, load]);

  const dismiss = useCallback((name: string) => setStates((all) => all.filter((one) => one.name !== name)), []);
  const attach = useCallback(
    async (chosen: readonly File[]) => {
      const of = begin();
      begun.current = of;
      shown.current = of;
      const tell = (name: string, told: string, failed = false) => {
        if (shown.current === of) setStates((all) => withState(all, { name, told, failed }));
      };
      for (const file of chosen) {
        try {
          tell(file.name, words().uploadStates.sending);
          const job = await taken(
            (onShare) => api.attach(of, file, onShare, new AbortController().signal),
            ({ state }) => state && tell(file.name, words().uploadStates[state]),
          );
          outcome(job); // an error if the file gave no document
          const ids = job.document_ids;
          if (shown.current === of && ids.length > 0 && ids.length <= MOST)
            onScope((scope) => [
              ...scope.filter((one) => !ids.includes(one.id)),
              ...ids.map((id) => ({ id, title: file.name })),
            ]);
          dismiss(file.name);
        } catch (error) {
          tell(file.name, told(error), true);
        }
        await load(of);
      }
    },
    [begin, load, onScope, dismiss],
  );
  const detach = useCallback(
    async (file: Attachment) => {
      try {
        await api.detach(session, file.file);
        onScope((scope) => scope.filter((one) => !file.document_ids.includes(one.id)));
      } catch (error) {
        setStates((all) => withState(all, { name: file.file, told: told(error), failed: true }));
      }
      await load(session);
    },
    [session, load, onScope],
  );
  return { files, states, attach, detach, dismiss };
}

const withState = (all: readonly FileState[], changed: FileState): readonly FileState[] =>
  all.some((one) => one.name === changed.name)
    ? all.map((one) => (one.name === changed.name ? changed : one))
    : [...all, changed];

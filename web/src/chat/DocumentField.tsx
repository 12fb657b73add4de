import { useEffect, useId, useState } from "react";
import { api } from "../api/client";
import type { Listed } from "../api/types";

interface Props {
  label: string;
  /** The id of a document, or any other text. */
  value: string;
  onChange: (value: string) => void;
}

const PAUSE = 200;

/** A field for the id of a document, which can be found by its name. */
export function DocumentField({ label, value, onChange }: Props) {
  const list = useId();
  const [found, setFound] = useState<readonly Listed[]>([]);
  const [wanted, setWanted] = useState(false);
  useEffect(() => {
    if (!wanted) return;
    const stopper = new AbortController();
    const soon = setTimeout(() => {
      api
        .documents({ q: value.trim().slice(0, 200), limit: 20 }, stopper.signal)
        .then((listing) => setFound(listing.documents))
        .catch(() => undefined); // no suggestions, then
    }, PAUSE);
    return () => {
      clearTimeout(soon);
      stopper.abort();
    };
  }, [value, wanted]);
  return (
    <label className="field">
      <span>{label}</span>
      <input
        list={list}
        value={value}
        maxLength={2000}
        onFocus={() => setWanted(true)}
        onChange={(event) => onChange(event.target.value)}
      />
      <datalist id={list}>
        {found.map((one) => (
          <option key={one.document_id} value={one.document_id}>
            {one.title}
          </option>
        ))}
      </datalist>
    </label>
  );
}

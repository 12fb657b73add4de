import { useEffect, useState } from "react";
import { api } from "../api/client";
import { type Fields, fieldsOf } from "./where";

const NONE: Fields = new Map();

/** Load the fields of the first documents when the filters are opened for the first time. */
export function useFields(wanted: boolean): Fields {
  const [fields, setFields] = useState<Fields>(NONE);
  useEffect(() => {
    if (!wanted || fields !== NONE) return;
    const stopper = new AbortController();
    api
      .documents({ limit: 100 }, stopper.signal)
      .then((listing) => setFields(fieldsOf(listing.documents.map((one) => one.metadata))))
      .catch(() => undefined); // without suggestions, then
    return () => stopper.abort();
  }, [wanted, fields]);
  return fields;
}

import { useMemo, useState } from "react";
import type { StoredDocument } from "../api/types";
import { percent } from "../chat/Confidence";
import { Icon } from "../shell/Icon";
import { CodePoints } from "../text/codepoints";
import type { Range } from "../text/parts";
import { words } from "../words/words";

interface Props {
  document: StoredDocument;
  /** Show a chunk, in code points, on the original. */
  onChunk: (chunk: Range) => void;
}

/** Chunks that are listed at once. */
const STEP = 100;

/** How a document was read: what was found in it, what was left out, and the chunks that it was cut into. */
export function ParseView({ document, onChunk }: Props) {
  const { text, marks, reading } = document;
  const [most, setMost] = useState(STEP);
  const points = useMemo(() => new CodePoints(text), [text]);
  const pages = marks.filter((one) => one.kind === "page");
  const headings = marks.filter((one) => one.kind === "heading");
  const say = words();
  const placeOf = (start: number) => {
    const page = pages.filter((one) => one.start <= start).at(-1);
    const heading = headings.filter((one) => one.start <= start).at(-1);
    return [page && say.page(page.label), heading?.label].filter(Boolean).join(" · ");
  };
  const { ocr, ocr_confidence: sure, ocr_pages: scanned, chunks, seconds } = reading;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section className="source-body parse" aria-label={say.asParsed} tabIndex={0}>
      <p className={reading.note ? "notice warn" : "notice"}>
        <Icon name={reading.note ? "warn" : "check"} /> <span>{reading.note || say.nothingLeftOut}</span>
      </p>
      <p>
        {reading.kind && `${reading.kind} · `}
        {say.parsed(reading.characters, reading.pages, reading.headings, reading.tables, reading.code, chunks.length)}
      </p>
      <p>{say.readingTook(seconds)}</p>
      {ocr && <p>{say.readByOcr(ocr, sure === null ? "" : percent(sure))}</p>}
      {scanned.length > 0 && (
        <p className="quiet small">
          {scanned.map((one) => `${say.page(String(one.page))}: ${percent(one.confidence)}`).join(" · ")}
        </p>
      )}
      <ol>
        {chunks.slice(0, most).map((chunk, at) => (
          <li key={at}>
            <button type="button" className="chunk" onClick={() => onChunk(chunk)}>
              <span className="quiet small">{[at + 1, placeOf(chunk.start)].filter(Boolean).join(" · ")}</span>
              <span>{points.slice(chunk.start, chunk.end)}</span>
            </button>
          </li>
        ))}
      </ol>
      {chunks.length > most && (
        <button type="button" className="button" onClick={() => setMost(most + STEP)}>
          {say.showMore}
        </button>
      )}
    </section>
  );
}

import { useEffect, useMemo, useRef, useState } from "react";
import { api } from "../api/client";
import { told } from "../api/errors";
import { originOf } from "../chat/origin";
import { isOutside, nameOf, type Target } from "../chat/target";
import { useAnnounce } from "../shell/Announcer";
import { IconButton } from "../shell/Button";
import { Icon } from "../shell/Icon";
import { leafKind } from "../text/leaves";
import { safeLink } from "../text/links";
import { isMarkdown } from "../text/markdown";
import type { Range } from "../text/parts";
import { words } from "../words/words";
import { DocumentText } from "./DocumentText";
import { LeafView } from "./LeafView";
import { PageView } from "./PageView";
import { ParseView } from "./ParseView";
import { RowsView } from "./RowsView";
import { useDocument } from "./useDocument";
import { useOriginal } from "./useOriginal";

interface Props {
  targets: readonly Target[];
  at: number;
  onMove: (at: number) => void;
  onClose: () => void;
}

type View = "original" | "text" | "parse";

/** What was chosen last; the next source opens in the same way. */
let chosen: View = "original";

/** The source next to the answer, as it looks or as text, at the cited words, and the other citations. */
export function SourcePanel({ targets, at, onMove, onClose }: Props) {
  const target = targets[at] as Target;
  const heading = useRef<HTMLHeadingElement>(null);
  const announce = useAnnounce();
  const [view, setView] = useState(chosen);
  const id = isOutside(target) ? null : target.documentId;
  const [chunk, setChunk] = useState<Range | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another citation shows its own words
  useEffect(() => setChunk(null), [target]);
  const { start, end } = chunk ?? target;
  const { original, awaited } = useOriginal(id, start, end);
  const isFile = original !== null && (original.pages > 0 || original.is_row);
  const { document, error } = useDocument(view === "original" && (isFile || awaited) ? null : id);
  const leaf = document && !isFile ? leafKind(document.metadata.kind, document.marks) : null;
  const hasOriginal = isFile || leaf !== null;
  // Offered until there is known to be none: what is checked for want of another cannot be chosen.
  const mayHaveOriginal = hasOriginal || awaited || (document === null && error === "");
  const link = safeLink(target.url);
  const place = originOf(target);
  const say = words();

  useEffect(() => heading.current?.focus({ preventScroll: true }), []);

  const spans = useMemo(() => {
    if (chunk) return [chunk];
    const same = targets.filter((one) => one !== target && one.documentId === target.documentId && one.marker !== null);
    return target.end > target.start ? [target, ...same] : [];
  }, [targets, target, chunk]);
  const passage = useMemo(() => passageOf(target), [target]);
  const show = (next: View) => {
    chosen = next;
    setView(next);
  };
  const lost = original?.state === "changed" ? say.fileChanged : original?.state === "gone" ? say.fileGone : "";
  const notice = lost && (
    <p className="notice">
      <Icon name="info" /> <span>{lost}</span>
    </p>
  );

  return (
    <aside className="source" aria-label={say.source}>
      <header className="source-head">
        <div className="source-titles">
          <h2 ref={heading} tabIndex={-1}>
            {target.marker !== null && <span className="card-number">{target.marker}</span>}{" "}
            {target.title || document?.title || nameOf(target.documentId)}
          </h2>
          {place && <p className="source-place">{place}</p>}
          {original?.note && (
            <p className="source-place">
              <Icon name="info" /> {original.note}
            </p>
          )}
          {link && (
            <a href={link.href} target="_blank" rel="noreferrer">
              {link.host} <Icon name="out" />
              <span className="visually-hidden"> ({say.newTab})</span>
            </a>
          )}
        </div>
        <div className="source-tools">
          {original?.may_save && (
            <IconButton
              icon="download"
              label={say.save(original.name)}
              onClick={() => void api.save(original.document_id, original.name).catch((bad) => announce(told(bad)))}
            />
          )}
          <IconButton icon="close" label={say.closeSource} onClick={onClose} />
        </div>
      </header>
      {(targets.length > 1 || id !== null) && (
        <div className="source-bar">
          {targets.length > 1 && (
            <nav className="source-nav" aria-label={say.citations}>
              <IconButton icon="left" label={say.previousCitation} disabled={at === 0} onClick={() => onMove(at - 1)} />
              <span aria-live="polite">{say.ofAll(at + 1, targets.length)}</span>
              <IconButton
                icon="right"
                label={say.nextCitation}
                disabled={at === targets.length - 1}
                onClick={() => onMove(at + 1)}
              />
            </nav>
          )}
          <span className="grow" />
          {id !== null && <Choice view={view} hasOriginal={mayHaveOriginal} onView={show} />}
        </div>
      )}
      {view === "parse" && document ? (
        <ParseView
          key={document.document_id}
          document={document}
          onChunk={(one) => {
            setChunk(one);
            show(hasOriginal ? "original" : "text");
          }}
        />
      ) : view === "original" && isFile && original.pages > 0 ? (
        <PageView key={original.document_id} original={original} quote={chunk ? "" : target.quote} />
      ) : view === "original" && isFile ? (
        <RowsView id={original.document_id} name={original.name} start={start} end={end} />
      ) : view === "original" && document && leaf ? (
        <LeafView key={document.document_id} document={document} kind={leaf} spans={spans} notice={notice} />
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
        <section className="source-body" aria-label={say.sourceText} tabIndex={0}>
          {notice}
          {document && (
            <DocumentText
              key={document.document_id}
              text={document.text}
              marks={document.marks}
              spans={spans}
              isMarkdown={isMarkdown(document.metadata.kind)}
            />
          )}
          {!document && isOutside(target) && <DocumentText text={passage.text} marks={[]} spans={[passage]} />}
          {!document && !isOutside(target) && !error && <p className="quiet">{say.loading}</p>}
          {error && (
            <>
              <p className="notice warn">
                <Icon name="warn" /> <span>{error}</span>
              </p>
              {target.quote && <DocumentText text={passage.text} marks={[]} spans={[passage]} />}
            </>
          )}
        </section>
      )}
    </aside>
  );
}

interface ChoiceProps {
  view: View;
  hasOriginal: boolean;
  onView: (view: View) => void;
}

function Choice({ view, hasOriginal, onView }: ChoiceProps) {
  const say = words();
  const names = { original: say.original, text: say.asText, parse: say.asParsed };
  const shown = hasOriginal || view === "parse" ? view : "text";
  return (
    <fieldset className="choices">
      <legend className="visually-hidden">{say.showAs}</legend>
      {(["original", "text", "parse"] as const)
        .filter((one) => hasOriginal || one !== "original")
        .map((one) => (
          <label key={one}>
            <input
              type="radio"
              name="source-view"
              className="visually-hidden"
              checked={shown === one}
              onChange={() => onView(one)}
            />
            <span>{names[one]}</span>
          </label>
        ))}
    </fieldset>
  );
}

/** Return what the answer says of a source that cannot be loaded: a web page, or a deleted document. */
function passageOf({ passage, quote, start, end }: Target): { text: string; start: number; end: number } {
  if (!passage) return { text: quote, start: 0, end: [...quote].length };
  return { text: passage.text, start: start - passage.start, end: end - passage.start };
}

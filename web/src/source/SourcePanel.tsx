import { useEffect, useMemo, useRef } from "react";
import { placeOf, type Target } from "../chat/target";
import { IconButton } from "../shell/Button";
import { Icon } from "../shell/Icon";
import { safeLink } from "../text/links";
import { DocumentText } from "./DocumentText";
import { useDocument } from "./useDocument";

interface Props {
  targets: readonly Target[];
  at: number;
  onMove: (at: number) => void;
  onClose: () => void;
}

/** The source next to the answer: the document at the cited words, and navigation to the other citations. */
export function SourcePanel({ targets, at, onMove, onClose }: Props) {
  const target = targets[at] as Target;
  const heading = useRef<HTMLHeadingElement>(null);
  const { document, error } = useDocument(target.isWeb ? null : target.documentId);
  const link = safeLink(target.url);
  const place = placeOf(target);

  useEffect(() => heading.current?.focus({ preventScroll: true }), []);

  const spans = useMemo(() => {
    const same = targets.filter((one) => one !== target && one.documentId === target.documentId && one.marker !== null);
    return target.end > target.start ? [target, ...same] : [];
  }, [targets, target]);
  const passage = useMemo(() => passageOf(target), [target]);

  return (
    <aside className="source" aria-label="Source">
      <header className="source-head">
        <div className="source-titles">
          <h2 ref={heading} tabIndex={-1}>
            {target.marker !== null && <span className="card-number">{target.marker}</span>}{" "}
            {target.title === target.documentId ? document?.title || target.title : target.title}
          </h2>
          {place && <p className="source-place">{place}</p>}
          {link && (
            <a href={link.href} target="_blank" rel="noreferrer">
              {link.host} <Icon name="out" />
              <span className="visually-hidden"> (opens a new tab)</span>
            </a>
          )}
        </div>
        <IconButton icon="close" label="Close the source" onClick={onClose} />
      </header>
      {targets.length > 1 && (
        <nav className="source-nav" aria-label="Citations">
          <IconButton icon="left" label="Previous citation" disabled={at === 0} onClick={() => onMove(at - 1)} />
          <span aria-live="polite">
            {at + 1} of {targets.length}
          </span>
          <IconButton
            icon="right"
            label="Next citation"
            disabled={at === targets.length - 1}
            onClick={() => onMove(at + 1)}
          />
        </nav>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section className="source-body" aria-label="Text of the source" tabIndex={0}>
        {document && (
          <DocumentText key={document.document_id} text={document.text} marks={document.marks} spans={spans} />
        )}
        {!document && target.isWeb && <DocumentText text={passage.text} marks={[]} spans={[passage]} />}
        {!document && !target.isWeb && !error && <p className="quiet">Loading</p>}
        {error && (
          <>
            <p className="notice warn">
              <Icon name="warn" /> <span>{error}</span>
            </p>
            {target.quote && <DocumentText text={passage.text} marks={[]} spans={[passage]} />}
          </>
        )}
      </section>
    </aside>
  );
}

/** Return what the answer says of a source that cannot be loaded: a web page, or a deleted document. */
function passageOf({ passage, quote, start, end }: Target): { text: string; start: number; end: number } {
  if (!passage) return { text: quote, start: 0, end: [...quote].length };
  return { text: passage.text, start: start - passage.start, end: end - passage.start };
}

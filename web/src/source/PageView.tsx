import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { api } from "../api/client";
import { isAbort, told } from "../api/errors";
import type { Original } from "../api/types";
import { IconButton } from "../shell/Button";
import { Icon } from "../shell/Icon";
import { words } from "../words/words";

interface Props {
  original: Original;
  /** The cited words, for those who do not see the picture. */
  quote: string;
}

const ZOOMS = [1, 1.5, 2, 3];
/** Widths of images are multiples of this, so that most windows share the images that are kept. */
const STEP = 200;
const MOST_WIDTH = 2400;

/** The pages of the file that a document was read from, drawn by the server, with the cited words marked. */
export function PageView({ original, quote }: Props) {
  const first = original.cited[0]?.page ?? 1;
  const [number, setNumber] = useState(first);
  const [zoom, setZoom] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another citation begins on its own page
  useEffect(() => setNumber(first), [original, first]);
  const last = original.pages;
  const page = Math.min(number, last);
  const cited = original.cited.find((one) => one.page === page);
  const say = words();
  return (
    <div className="paper-frame">
      <nav className="source-nav" aria-label={say.pages}>
        <IconButton icon="left" label={say.previousPage} disabled={page <= 1} onClick={() => setNumber(page - 1)} />
        <span aria-live="polite">{say.pageOf(page, last)}</span>
        <IconButton icon="right" label={say.nextPage} disabled={page >= last} onClick={() => setNumber(page + 1)} />
        {!cited && original.cited.length > 0 && (
          <button type="button" className="button small bare" onClick={() => setNumber(first)}>
            {say.toCitedPage}
          </button>
        )}
        <span className="grow" />
        <IconButton icon="minus" label={say.zoomOut} disabled={zoom === 0} onClick={() => setZoom(zoom - 1)} />
        <IconButton
          icon="plus"
          label={say.zoomIn}
          disabled={zoom === ZOOMS.length - 1}
          onClick={() => setZoom(zoom + 1)}
        />
      </nav>
      <Paper
        id={original.document_id}
        number={page}
        zoom={ZOOMS[zoom] as number}
        boxes={cited?.boxes ?? []}
        label={
          cited && quote
            ? say.pageImageCited(page, original.name, quote.replace(/\s+/g, " "))
            : say.pageImage(page, original.name)
        }
      />
    </div>
  );
}

interface PaperProps {
  id: string;
  number: number;
  zoom: number;
  boxes: Original["cited"][number]["boxes"];
  label: string;
}

function Paper({ id, number, zoom, boxes, label }: PaperProps) {
  const frame = useRef<HTMLElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const mark = useRef<HTMLSpanElement>(null);
  const width = useWidth(frame);
  const [drawn, setDrawn] = useState("");
  const [error, setError] = useState("");
  const pixels = Math.min(MOST_WIDTH, Math.ceil((width * zoom * devicePixelRatio) / STEP) * STEP);
  const page = `${id} ${number}`;

  useEffect(() => {
    if (!pixels) return;
    const stopper = new AbortController();
    setError("");
    api
      .page(id, number, pixels, stopper.signal)
      .then(createImageBitmap)
      .then((picture) => {
        if (stopper.signal.aborted || !canvas.current) return;
        canvas.current.width = picture.width;
        canvas.current.height = picture.height;
        canvas.current.getContext("2d")?.drawImage(picture, 0, 0);
        picture.close();
        setDrawn(page);
      })
      .catch((failed) => !isAbort(failed) && !stopper.signal.aborted && setError(told(failed)));
    return () => stopper.abort();
  }, [id, number, pixels, page]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a page that is drawn, or larger, needs a new position
  useLayoutEffect(() => {
    if (drawn === page) mark.current?.scrollIntoView({ block: "center", inline: "center" });
  }, [drawn, page, boxes, zoom]);

  const share = (part: number) => `${100 * part}%`;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section className="paper-body" ref={frame} tabIndex={0} aria-label={words().original} aria-busy={drawn !== page}>
      {error ? (
        <p className="notice warn" role="alert">
          <Icon name="warn" /> <span>{error}</span>
        </p>
      ) : (
        <div className="paper" style={{ width: share(zoom) }} hidden={!drawn}>
          <canvas ref={canvas} role="img" aria-label={label} className={drawn === page ? "" : "stale"} />
          {drawn === page &&
            boxes.map((box, at) => (
              <span
                key={at}
                ref={at === 0 ? mark : null}
                className="paper-mark"
                style={{
                  left: share(box.left),
                  top: share(box.top),
                  width: share(box.right - box.left),
                  height: share(box.bottom - box.top),
                }}
              />
            ))}
        </div>
      )}
      {!drawn && !error && <p className="quiet">{words().loading}</p>}
    </section>
  );
}

/** The width of an element, followed as it changes. */
function useWidth(element: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const watched = element.current;
    if (!watched) return;
    const watcher = new ResizeObserver(() => setWidth(watched.clientWidth));
    watcher.observe(watched);
    return () => watcher.disconnect();
  }, [element]);
  return width;
}

import { useEffect, useRef } from "react";
import { words } from "../words/words";
import { pictured } from "./pictured";
import type { Turn } from "./turns";

/** Pixels of the longer side: twice what it takes on the page. */
const LONGEST = 640;

/** The picture of a question, as long as the page has it, and the words by which the documents were searched for it. */
export function QuestionPicture({ turn }: { turn: Turn }) {
  const { model, description } = pictured(turn.answer?.question ?? turn.question);
  if (!turn.picture && !description) return null;
  return (
    <figure className="asked-picture">
      {turn.picture && <Drawn address={turn.picture} label={description || words().pictureAsked} />}
      {description && (
        <figcaption className="quiet small">
          {words().describedBy(model)}: {description}
        </figcaption>
      )}
    </figure>
  );
}

/** A picture that is in its address. It is drawn, because the page allows no images but its own. */
function Drawn({ address, label }: { address: string; label: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    let current = true;
    const bytes = Uint8Array.from(atob(address.slice(address.indexOf(",") + 1)), (one) => one.charCodeAt(0));
    createImageBitmap(new Blob([bytes]))
      .then((image) => {
        const { current: board } = canvas;
        if (!current || !board) return;
        const scale = Math.min(1, LONGEST / Math.max(image.width, image.height));
        board.width = Math.max(1, Math.round(image.width * scale));
        board.height = Math.max(1, Math.round(image.height * scale));
        board.getContext("2d")?.drawImage(image, 0, 0, board.width, board.height);
      })
      .catch(() => undefined); // it was drawn before it was sent
    return () => {
      current = false;
    };
  }, [address]);
  return <canvas ref={canvas} role="img" aria-label={label} />;
}

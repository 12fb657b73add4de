import { type FormEvent, useEffect, useRef, useState } from "react";
import { told } from "../api/errors";
import { useAnnounce } from "../shell/Announcer";
import { IconButton } from "../shell/Button";
import { words } from "../words/words";
import { DocumentField } from "./DocumentField";
import type { Turn, Vote } from "./turns";

interface Props {
  turn: Turn;
  onVote: (vote: Vote, more?: { reason?: string; correction?: string }) => Promise<void>;
}

/** Thumbs up and down; thumbs down asks for a reason and the right document. */
export function FeedbackBar({ turn, onVote }: Props) {
  const announce = useAnnounce();
  const [asking, setAsking] = useState(false);
  const [said, setSaid] = useState("");

  const thank = () => {
    setSaid(words().thanks);
    announce(words().thanks);
  };
  const give = async (vote: Vote, more: { reason?: string; correction?: string } = {}, isAll = true) => {
    setSaid("");
    try {
      await onVote(vote, more);
      if (isAll) thank(); // who is asked why is thanked when the form closes
    } catch (error) {
      setSaid(told(error));
      announce(told(error));
    }
  };
  const down = () => {
    setAsking(true);
    void give("down", {}, false);
  };

  return (
    <>
      <IconButton
        icon="up"
        label={words().goodAnswer}
        aria-pressed={turn.vote === "up"}
        onClick={() => {
          setAsking(false);
          void give("up");
        }}
      />
      <IconButton icon="down" label={words().badAnswer} aria-pressed={turn.vote === "down"} onClick={down} />
      {said && <span className="quiet small opinion-said">{said}</span>}
      {asking && (
        <Why
          onSend={(reason, correction) => {
            setAsking(false);
            void give("down", { ...(reason && { reason }), ...(correction && { correction }) });
          }}
          onClose={() => {
            setAsking(false);
            if (!said) thank();
          }}
        />
      )}
    </>
  );
}

function Why({ onSend, onClose }: { onSend: (reason: string, correction: string) => void; onClose: () => void }) {
  const [reason, setReason] = useState("");
  const [more, setMore] = useState("");
  const [correction, setCorrection] = useState("");
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    form.current?.querySelector("input")?.focus({ preventScroll: true });
    form.current?.scrollIntoView({ block: "nearest" });
  }, []);
  const said = [reason, more.trim()].filter(Boolean).join(": ");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSend(said, correction.trim());
  };
  return (
    <form ref={form} className="why stack" onSubmit={submit}>
      <fieldset className="reasons">
        <legend>{words().whatWasWrong}</legend>
        {Object.values(words().reasons).map((one) => (
          <label key={one} className="choice">
            <input type="radio" name="reason" checked={reason === one} onChange={() => setReason(one)} />
            <span>{one}</span>
          </label>
        ))}
      </fieldset>
      <label className="field">
        <span>{words().ownWords}</span>
        <textarea rows={2} maxLength={3000} value={more} onChange={(event) => setMore(event.target.value)} />
      </label>
      <DocumentField label={words().rightDocument} value={correction} onChange={setCorrection} />
      <div className="row end">
        <button type="button" className="button small" onClick={onClose}>
          {words().cancel}
        </button>
        <button type="submit" className="button small primary" disabled={!said && !correction.trim()}>
          {words().send}
        </button>
      </div>
    </form>
  );
}

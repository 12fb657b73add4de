import { type FormEvent, type KeyboardEvent, type RefObject, useState } from "react";
import { FilterPanel } from "../filters/FilterPanel";
import { useFields } from "../filters/useFields";
import { type Filter, NO_FILTER, whereOf } from "../filters/where";
import { IconButton } from "../shell/Button";
import { Icon } from "../shell/Icon";

interface Props {
  box: RefObject<HTMLTextAreaElement | null>;
  underWay: boolean;
  before: string;
  onAsk: (question: string, where: string) => void;
  onStop: () => void;
}

const MOST_ROWS = 8;

/** The question box, with a filter on documents. */
export function Composer({ box, underWay, before, onAsk, onStop }: Props) {
  const [question, setQuestion] = useState("");
  const [filter, setFilter] = useState<Filter>(NO_FILTER);
  const [filtering, setFiltering] = useState(false);
  const fields = useFields(filtering);
  const where = whereOf(filter, fields);

  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (!question.trim() || underWay) return;
    onAsk(question.trim(), where);
    setQuestion("");
    if (matchMedia("(pointer: coarse)").matches) box.current?.blur(); // the on-screen keyboard would cover the answer
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      submit();
    } else if (event.key === "ArrowUp" && !question && before) {
      event.preventDefault();
      setQuestion(before);
    }
  };

  return (
    <form className="composer" onSubmit={submit} aria-label="Ask a question">
      {filtering && <FilterPanel filter={filter} fields={fields} onChange={setFilter} />}
      <div className="composer-box">
        <textarea
          ref={box}
          aria-label="Question"
          placeholder="Ask your documents"
          rows={Math.min(MOST_ROWS, question.split("\n").length)}
          maxLength={8000}
          value={question}
          onChange={(event) => setQuestion(event.target.value)}
          onKeyDown={pressed}
        />
        <div className="composer-tools">
          <button
            type="button"
            className="button small bare"
            aria-expanded={filtering}
            onClick={() => setFiltering(!filtering)}
          >
            <Icon name="filter" /> <span className="clip">{where || "All documents"}</span>
          </button>
          {where && <IconButton icon="close" label="Remove the filter" onClick={() => setFilter(NO_FILTER)} />}
          <span className="grow" />
          {underWay ? (
            <IconButton icon="stop" label="Stop" className="send" onClick={onStop} />
          ) : (
            <IconButton icon="send" label="Ask" className="send" type="submit" disabled={!question.trim()} />
          )}
        </div>
      </div>
    </form>
  );
}

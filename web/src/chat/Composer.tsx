import { type ClipboardEvent, type FormEvent, type KeyboardEvent, type RefObject, useRef, useState } from "react";
import type { Collection } from "../api/types";
import { FilterPanel } from "../filters/FilterPanel";
import { confined, type Scoped } from "../filters/scope";
import { useFields } from "../filters/useFields";
import { type Filter, NO_FILTER, whereOf } from "../filters/where";
import { IconButton } from "../shell/Button";
import { Icon, type IconName } from "../shell/Icon";
import { day } from "../shell/time";
import { words } from "../words/words";
import { type Picture, reduced } from "./picture";
import type { Effort } from "./turns";
import type { Attaching } from "./useAttached";

interface Props {
  box: RefObject<HTMLTextAreaElement | null>;
  underWay: boolean;
  /** The files of the conversation; null if the reader may not attach any. */
  attaching: Attaching | null;
  /** Whether a question may have a picture. */
  canShow: boolean;
  before: string;
  /** Collections to choose from; no choice if there are none. */
  collections: readonly Collection[];
  collection: Collection | null;
  onCollection: (name: string) => void;
  /** The documents that questions are confined to; none for all. */
  scope: readonly Scoped[];
  onScope: (scope: readonly Scoped[]) => void;
  /** The language models to choose from; no choice if there are none. */
  models: readonly string[];
  /** The chosen one; empty for the default. */
  model: string;
  onModel: (model: string) => void;
  /** How much work the next question is worth. */
  effort: Effort;
  onEffort: (effort: Effort) => void;
  question: string;
  onQuestion: (question: string) => void;
  onAsk: (question: string, where: string, picture: string) => void;
  onStop: () => void;
}

const MOST_ROWS = 8;
const EFFORTS: readonly Effort[] = ["quick", "thorough", "research", "report"];

/** The question box, with a filter on documents. */
export function Composer(props: Props) {
  const { box, underWay, attaching, canShow, before, scope, onScope, question, onQuestion, onAsk, onStop } = props;
  const [filter, setFilter] = useState<Filter>(NO_FILTER);
  const [filtering, setFiltering] = useState(false);
  const fields = useFields(filtering);
  const where = whereOf(filter, fields);
  const [picture, setPicture] = useState<Picture | null>(null);
  const [refused, setRefused] = useState("");

  const say = words();
  const show = async (files: readonly File[]) => {
    const [file] = files;
    if (!file) return;
    try {
      setPicture(await reduced(file));
      setRefused("");
    } catch {
      setPicture(null);
      setRefused(say.noPicture(file.name));
    }
  };
  const pasted = (event: ClipboardEvent) => {
    const images = [...event.clipboardData.files].filter((file) => file.type.startsWith("image/"));
    if (!canShow || images.length === 0) return;
    event.preventDefault();
    void show(images);
  };

  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (!question.trim() || underWay) return;
    onAsk(question.trim(), confined(scope, where), picture?.url ?? "");
    onQuestion("");
    setPicture(null);
    setRefused("");
    if (matchMedia("(pointer: coarse)").matches) box.current?.blur(); // the on-screen keyboard would cover the answer
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      submit();
    } else if (event.key === "ArrowUp" && !question && before) {
      event.preventDefault();
      onQuestion(before);
    }
  };

  return (
    <form className="composer" onSubmit={submit} aria-label={say.askQuestion}>
      {filtering && <FilterPanel filter={filter} fields={fields} onChange={setFilter} />}
      <div className="composer-box">
        {scope.length > 0 && (
          <ul className="scope">
            {scope.map((one) => (
              <li key={one.id}>
                <span className="clip">{say.onlyIn(one.title)}</span>
                <IconButton
                  icon="close"
                  label={say.removeScope(one.title)}
                  onClick={() => onScope(scope.filter((other) => other !== one))}
                />
              </li>
            ))}
          </ul>
        )}
        {attaching && attaching.files.length + attaching.states.length > 0 && (
          <ul className="scope" aria-live="polite" aria-label={say.attached}>
            {attaching.files.map((file) => (
              <li key={`${file.file} ${file.added}`} title={say.attachedUntil(day(file.until))}>
                <Icon name="upload" />
                <span className="clip">{file.file}</span>
                <IconButton icon="close" label={say.detach(file.file)} onClick={() => void attaching.detach(file)} />
              </li>
            ))}
            {attaching.states.map(({ name, told, failed }) => (
              <li key={`${name} told`} className={failed ? "told failed" : "told"}>
                {failed && <Icon name="warn" />}
                <span>
                  {name}: {told}
                </span>
                {failed && (
                  <IconButton icon="close" label={say.removeFromList(name)} onClick={() => attaching.dismiss(name)} />
                )}
              </li>
            ))}
          </ul>
        )}
        {(picture || refused) && (
          <ul className="scope" aria-live="polite">
            {picture ? (
              <li>
                <Icon name="picture" />
                <span className="clip">{say.pictureOf(picture.name)}</span>
                <IconButton icon="close" label={say.removePicture(picture.name)} onClick={() => setPicture(null)} />
              </li>
            ) : (
              <li className="told failed">
                <Icon name="warn" />
                <span>{refused}</span>
                <IconButton icon="close" label={say.removeFromList(refused)} onClick={() => setRefused("")} />
              </li>
            )}
          </ul>
        )}
        <textarea
          ref={box}
          aria-label={say.question}
          placeholder={say.askYourDocuments}
          rows={Math.min(MOST_ROWS, question.split("\n").length)}
          maxLength={8000}
          value={question}
          onChange={(event) => onQuestion(event.target.value)}
          onKeyDown={pressed}
          onPaste={pasted}
        />
        <div className="composer-tools">
          {attaching && <Choose icon="upload" label={say.attach} onFiles={(files) => void attaching.attach(files)} />}
          {canShow && <Choose icon="picture" label={say.showPicture} pictures onFiles={(files) => void show(files)} />}
          {props.collections.length > 0 && (
            <select
              className="models"
              aria-label={say.collection}
              value={props.collection?.name ?? ""}
              onChange={(event) => props.onCollection(event.target.value)}
            >
              <option value="">{say.everything}</option>
              {props.collections.map((one) => (
                <option key={one.name}>{one.name}</option>
              ))}
            </select>
          )}
          <button
            type="button"
            className="button small bare"
            aria-expanded={filtering}
            onClick={() => setFiltering(!filtering)}
          >
            <Icon name="filter" />{" "}
            <span className="clip">{where || (props.collection ? say.filter : say.allDocuments)}</span>
          </button>
          {where && <IconButton icon="close" label={say.removeFilter} onClick={() => setFilter(NO_FILTER)} />}
          <span className="grow" />
          {props.models.length > 0 && (
            <select
              className="models"
              aria-label={say.model}
              value={props.model}
              onChange={(event) => props.onModel(event.target.value)}
            >
              <option value="">{say.defaultModel}</option>
              {props.models.map((one) => (
                <option key={one} value={one}>
                  {one === "extractive" ? say.noModel : one}
                </option>
              ))}
            </select>
          )}
          <select
            className="models"
            aria-label={say.effort}
            value={props.effort}
            onChange={(event) => props.onEffort(event.target.value as Effort)}
          >
            {EFFORTS.map((one) => (
              <option key={one} value={one}>
                {say.efforts[one]}
              </option>
            ))}
          </select>
          {underWay ? (
            <IconButton icon="stop" label={say.stop} className="send" onClick={onStop} />
          ) : (
            <IconButton icon="send" label={say.ask} className="send" type="submit" disabled={!question.trim()} />
          )}
        </div>
      </div>
    </form>
  );
}

interface ChooseProps {
  icon: IconName;
  label: string;
  /** One picture instead of any files. */
  pictures?: boolean;
  onFiles: (files: readonly File[]) => void;
}

/** A button that lets people choose files. */
function Choose({ icon, label, pictures = false, onFiles }: ChooseProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple={!pictures}
        {...(pictures && { accept: "image/*" })}
        hidden
        onChange={(event) => {
          onFiles([...(event.target.files ?? [])]);
          event.target.value = "";
        }}
      />
      <IconButton icon={icon} label={label} onClick={() => input.current?.click()} />
    </>
  );
}

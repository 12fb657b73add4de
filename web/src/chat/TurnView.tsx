import { useMemo } from "react";
import type { Collection } from "../api/types";
import { shownFilter } from "../filters/scope";
import { IconButton } from "../shell/Button";
import { Icon } from "../shell/Icon";
import { toldFlags } from "../text/proof";
import { words } from "../words/words";
import { AnswerText } from "./AnswerText";
import { Confidence } from "./Confidence";
import { asText, CopyButton } from "./CopyButton";
import { DocumentTable, isComparison, isList, SaveCsv } from "./DocumentTable";
import { comparisonCsv } from "./exporting";
import { FeedbackBar } from "./FeedbackBar";
import { Notices } from "./Notices";
import { pictured } from "./pictured";
import { QuestionPicture } from "./QuestionPicture";
import { Steps } from "./Steps";
import { proseClass, refused, saidOf } from "./said";
import { TargetCard } from "./TargetCard";
import type { Target } from "./target";
import { targetsOf } from "./targets";
import { isUnderWay, type Turn, type Vote } from "./turns";

interface Props {
  turn: Turn;
  /** Those that the reader may choose. */
  collections?: readonly Collection[];
  /** Whether its research was told to end with what stands so far. */
  ending?: boolean;
  /** The open citation, as an index into the turn's targets. */
  opened: number | null;
  onOpen: (targets: Target[], at: number) => void;
  onAgain?: () => void;
  /** Put the question into the box, to be asked in other words. */
  onEdit?: () => void;
  onVote?: (vote: Vote, more?: { reason?: string; correction?: string }) => Promise<void>;
}

/** A question and its answer. One that somebody else asked is only read. */
export function TurnView(props: Props) {
  const { turn, collections = [], ending = false, opened, onOpen, onAgain, onEdit, onVote } = props;
  const targets = useMemo(() => targetsOf(turn), [turn]);
  const underWay = isUnderWay(turn);
  const say = words();
  const current = opened === null ? null : (targets[opened]?.marker ?? null);
  const open = (at: number) => at >= 0 && onOpen(targets, at);
  return (
    <article className="turn" aria-busy={underWay}>
      <h2 className="question">{pictured(turn.question).typed}</h2>
      <QuestionPicture turn={turn} />
      {turn.where && (
        <p className="quiet small">
          <Icon name="filter" /> {shownFilter(turn.where, collections)}
        </p>
      )}
      <Steps turn={turn} />
      {underWay && <Progress turn={turn} ending={ending} />}
      <Written turn={turn} targets={targets} current={current} opened={opened} onOpen={open} />
      <Notices turn={turn} />
      {turn.state === "stopped" && <p className="quiet small">{say.stoppedEarly}</p>}
      {turn.state === "failed" && (
        <p className="notice warn" role="alert">
          <Icon name="warn" /> <span>{turn.error}</span>
        </p>
      )}
      {(turn.state === "failed" || turn.state === "stopped") && (
        <button type="button" className="button small" onClick={onAgain}>
          <Icon name="again" /> {say.askAgain}
        </button>
      )}
      {turn.answer && (
        <footer className="turn-foot">
          <Confidence answer={turn.answer} />
          <div className="actions">
            {onEdit && <IconButton icon="pencil" label={say.editQuestion} onClick={onEdit} />}
            <CopyButton text={() => asText(turn)} label={say.copyAnswer} />
            {onVote && <FeedbackBar turn={turn} onVote={onVote} />}
          </div>
        </footer>
      )}
    </article>
  );
}

function Progress({ turn, ending }: { turn: Turn; ending: boolean }) {
  const found = turn.evidence?.hits.length;
  if (turn.state === "writing") return null;
  return (
    <p className="progress">
      <span className="pulse" aria-hidden="true" />
      {ending ? words().ending : found === undefined ? words().searching : words().reading(found)}
    </p>
  );
}

interface PartProps {
  turn: Turn;
  targets: readonly Target[];
  opened: number | null;
  onOpen: (at: number) => void;
}

/** What an answer says, and what it cites; of a refusal, its words and the closest passages. */
function Written({ turn, targets, current, opened, onOpen }: PartProps & { current: number | null }) {
  const isRefused = refused(turn);
  const listed = isList(turn);
  const said = useMemo(
    () => saidOf(turn, listed || (isRefused && targets.length > 0)),
    [turn, isRefused, listed, targets],
  );
  const known = useMemo(() => new Set(targets.flatMap((one) => one.marker ?? [])), [targets]);
  const flags = toldFlags(said.proofs, words());
  const cards = (label: string, isShown: (one: Target) => boolean) =>
    turn.answer &&
    targets.some(isShown) && (
      <Cards label={label} targets={targets} isShown={isShown} opened={opened} onOpen={onOpen} />
    );
  const text = (
    <AnswerText
      look={proseClass(turn)}
      text={said.words}
      proofs={said.proofs}
      known={known}
      current={current}
      onOpen={(marker) => onOpen(targets.findIndex((one) => one.marker === marker))}
    />
  );
  const nearest = isRefused && cards(words().closest, (one) => one.marker === null);
  return (
    <>
      {said.failed && (
        <p className="notice warn">
          <Icon name="warn" /> <span>{said.failed}</span>
        </p>
      )}
      {isRefused ? (
        <div className="refusal">
          {text}
          {nearest}
        </div>
      ) : (
        text
      )}
      {turn.answer && flags && (
        <p className={said.proofs.some((one) => one.flag?.state === "contradicted") ? "notice warn" : "notice"}>
          <Icon name="warn" /> <span>{flags}</span>
        </p>
      )}
      {listed ? (
        <DocumentTable turn={turn} targets={targets} opened={opened} onOpen={onOpen} />
      ) : isComparison(turn) ? (
        <div className="actions">
          <SaveCsv title={turn.question} csv={() => comparisonCsv(turn.text, targets)} />
        </div>
      ) : (
        cards(words().cited, (one) => one.marker !== null)
      )}
    </>
  );
}

interface CardsProps extends Omit<PartProps, "turn"> {
  label: string;
  isShown: (target: Target) => boolean;
}

function Cards({ label, targets, isShown, opened, onOpen }: CardsProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: each answer has one, and landmarks have to differ
    <div className="cards" role="group" aria-label={label}>
      <h3 className="cards-title">{label}</h3>
      <ul>
        {targets.map(
          (target, at) =>
            isShown(target) && (
              <li key={at}>
                <TargetCard target={target} current={opened === at} onOpen={() => onOpen(at)} />
              </li>
            ),
        )}
      </ul>
    </div>
  );
}

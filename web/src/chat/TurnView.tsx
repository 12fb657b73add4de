import { useMemo } from "react";
import { shownFilter } from "../filters/scope";
import { IconButton } from "../shell/Button";
import { Icon } from "../shell/Icon";
import { locatedIn, provedOf } from "../text/proof";
import { words } from "../words/words";
import { AnswerText } from "./AnswerText";
import { Confidence } from "./Confidence";
import { asText, CopyButton } from "./CopyButton";
import { FeedbackBar } from "./FeedbackBar";
import { Notices } from "./Notices";
import { TargetCard } from "./TargetCard";
import type { Target } from "./target";
import { targetsOf } from "./targets";
import { isUnderWay, type Turn, type Vote } from "./turns";

interface Props {
  turn: Turn;
  /** The open citation, as an index into the turn's targets. */
  opened: number | null;
  onOpen: (targets: Target[], at: number) => void;
  onAgain?: () => void;
  /** Put the question into the box, to be asked in other words. */
  onEdit?: () => void;
  onVote?: (vote: Vote, more?: { reason?: string; correction?: string }) => Promise<void>;
}

/** A question and its answer. One that somebody else asked is only read. */
export function TurnView({ turn, opened, onOpen, onAgain, onEdit, onVote }: Props) {
  const targets = useMemo(() => targetsOf(turn), [turn]);
  const underWay = isUnderWay(turn);
  const say = words();
  const current = opened === null ? null : (targets[opened]?.marker ?? null);
  const open = (at: number) => at >= 0 && onOpen(targets, at);
  return (
    <article className="turn" aria-busy={underWay}>
      <h2 className="question">{turn.question}</h2>
      {turn.where && (
        <p className="quiet small">
          <Icon name="filter" /> {shownFilter(turn.where)}
        </p>
      )}
      {underWay && <Progress turn={turn} />}
      {turn.answer?.abstained && turn.answer.outcome !== "clarification" ? (
        <Refusal turn={turn} targets={targets} opened={opened} onOpen={open} />
      ) : (
        <Written turn={turn} targets={targets} current={current} opened={opened} onOpen={open} />
      )}
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

function Progress({ turn }: { turn: Turn }) {
  const found = turn.evidence?.hits.length;
  if (turn.state === "writing") return null;
  return (
    <p className="progress">
      <span className="pulse" aria-hidden="true" />
      {found === undefined ? words().searching : words().reading(found)}
    </p>
  );
}

interface PartProps {
  turn: Turn;
  targets: readonly Target[];
  opened: number | null;
  onOpen: (at: number) => void;
}

function Written({ turn, targets, current, opened, onOpen }: PartProps & { current: number | null }) {
  const { text, answer, sentences } = turn;
  const proofs = useMemo(
    () => (answer ? provedOf(text, answer.statements) : locatedIn(text, sentences)),
    [text, answer, sentences],
  );
  const known = useMemo(() => new Set(targets.flatMap((one) => one.marker ?? [])), [targets]);
  const unproved = proofs.filter((one) => one.wrong).length;
  const cited = targets.filter((one) => one.marker !== null);
  return (
    <>
      <AnswerText
        text={text}
        proofs={proofs}
        known={known}
        current={current}
        onOpen={(marker) => onOpen(targets.findIndex((one) => one.marker === marker))}
      />
      {answer && unproved > 0 && (
        <p className="notice warn">
          <Icon name="warn" /> <span>{words().unsupported(unproved, proofs.length)}</span>
        </p>
      )}
      {answer && cited.length > 0 && <Cards label={words().cited} targets={cited} opened={opened} onOpen={onOpen} />}
    </>
  );
}

/** A refusal with the closest passages, or the server's own text if it sent no passages. */
function Refusal({ turn, targets, opened, onOpen }: PartProps) {
  const [first = "", ...rest] = turn.text.split("\n");
  return (
    <div className="refusal">
      <p className="refusal-head">{first}</p>
      {targets.length ? (
        <Cards label={words().closest} targets={targets} opened={opened} onOpen={onOpen} />
      ) : (
        <p className="lines">{rest.join("\n")}</p>
      )}
    </div>
  );
}

interface CardsProps extends Omit<PartProps, "turn"> {
  label: string;
}

function Cards({ label, targets, opened, onOpen }: CardsProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: each answer has one, and landmarks have to differ
    <div className="cards" role="group" aria-label={label}>
      <h3 className="cards-title">{label}</h3>
      <ul>
        {targets.map((target, at) => (
          <li key={at}>
            <TargetCard target={target} current={opened === at} onOpen={() => onOpen(at)} />
          </li>
        ))}
      </ul>
    </div>
  );
}

import type { Action } from "../api/types";
import { Icon } from "../shell/Icon";
import { words } from "../words/words";
import { nameOf } from "./target";
import type { Turn } from "./turns";

/** Titles of new passages that a step shows. */
const SHOWN = 3;

/** What research is expected to cost, and each step: what was looked for, what was found, and what is still open. */
export function Steps({ turn }: { turn: Turn }) {
  const { forecast, steps = [] } = turn;
  const say = words();
  if (!forecast) return null;
  const limit = Math.ceil(forecast.seconds / 60);
  return (
    <details className="steps" open={turn.state === "searching"}>
      <summary>
        {say.stepCount(steps.length)} <Icon name="more" />
      </summary>
      <p className="quiet">
        {say.forecast(forecast.actions, forecast.calls, forecast.tokens, limit)}
        {forecast.cost ? ` (${forecast.cost.toFixed(4)})` : ""}
      </p>
      <ol>
        {steps.map((one, at) => (
          <li key={at}>
            <Step step={one} />
          </li>
        ))}
      </ol>
    </details>
  );
}

function Step({ step }: { step: Action }) {
  const say = words();
  const titles = step.titles.slice(0, SHOWN).join(", ") + (step.titles.length > SHOWN ? " …" : "");
  const found = step.action === "list" ? say.documentCount(step.new) : say.newPassages(step.new);
  return (
    <>
      <strong>{say.steps[step.action](step.text || nameOf(step.document_id))}</strong>{" "}
      {step.action !== "stop" && <span>{titles ? `${found}: ${titles}` : say.nothingNew}</span>}
      {step.open.length > 0 && <span className="quiet"> {say.stillOpen(step.open.join(", "))}</span>}
      {step.note && <span className="quiet"> {step.note}</span>}
    </>
  );
}

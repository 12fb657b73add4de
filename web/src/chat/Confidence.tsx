import type { Answer } from "../api/types";
import { Icon } from "../shell/Icon";
import { counted } from "../shell/time";

const percent = (share: number): string => (share > 0 && share < 0.01 ? "Under 1%" : `${Math.round(share * 100)}%`);
const time = (ms: number): string => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);

/** How sure the answer is, in a word; what that rests on, for who wants to know. */
export function Confidence({ answer }: { answer: Answer }) {
  const proved = answer.statements.filter((one) => one.supported).length;
  const scores = answer.judge_scores;
  const total = answer.timings_ms.total;
  const rows: [string, string][] = [["The documents answer this", `${percent(answer.answerability)} likely`]];
  if (answer.statements.length) rows.push(["Sentences proved", `${proved} of ${answer.statements.length}`]);
  if (scores) {
    rows.push([
      "Judge, of 10",
      `relevance ${scores.relevance}, facts ${scores.factuality}, whole ${scores.completeness}`,
    ]);
  }
  if (!answer.abstained)
    rows.push(["Written by", answer.model === "extractive" ? "nobody: quoted from the documents" : answer.model]);
  rows.push(["Search", answer.retrieval_method + (answer.web_search_triggered ? ", and the web" : "")]);
  if (total !== undefined) {
    const cached = answer.usage.cached.length ? ` (kept from before: ${answer.usage.cached.join(", ")})` : "";
    rows.push(["Time", time(total) + cached]);
  }
  if (answer.usage.model_calls) {
    const tokens = counted(answer.usage.prompt_tokens + answer.usage.completion_tokens, "token");
    rows.push(["Used", answer.usage.cost === null ? tokens : `${tokens}, ${answer.usage.cost.toFixed(4)}`]);
  }
  return (
    <details className="confidence">
      <summary>
        <span className={`dot ${level(answer.confidence)}`} aria-hidden="true" />
        {answer.abstained
          ? `${percent(answer.answerability)} likely to be answered here`
          : `Confidence ${percent(answer.confidence)}`}
        <Icon name="more" />
      </summary>
      <dl>
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

const level = (confidence: number): string => (confidence >= 0.75 ? "high" : confidence >= 0.5 ? "middle" : "low");

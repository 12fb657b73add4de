import type { Answer } from "../api/types";
import { Icon } from "../shell/Icon";
import { counted } from "../shell/time";

const percent = (share: number): string => (share > 0 && share < 0.01 ? "under 1%" : `${Math.round(share * 100)}%`);
const time = (ms: number): string => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);

/** The confidence of an answer, and what it rests on when opened. */
export function Confidence({ answer }: { answer: Answer }) {
  const proved = answer.statements.filter((one) => one.supported).length;
  const scores = answer.judge_scores;
  const total = answer.timings_ms.total;
  const estimated = answer.outcome !== "reply" && answer.outcome !== "clarification";
  const rows: [string, string][] = estimated ? [["Likelihood of an answer", percent(answer.answerability)]] : [];
  if (answer.statements.length) rows.push(["Supported sentences", `${proved} of ${answer.statements.length}`]);
  if (scores) {
    rows.push([
      "Judge, 0 to 10",
      `relevance ${scores.relevance}, factuality ${scores.factuality}, completeness ${scores.completeness}`,
    ]);
  }
  if (estimated && !answer.abstained)
    rows.push(["Written by", answer.model === "extractive" ? "no model: quoted from the documents" : answer.model]);
  rows.push(["Search", answer.retrieval_method + (answer.web_search_triggered ? " and the web" : "")]);
  if (total !== undefined) {
    const cached = answer.usage.cached.length ? ` (cached: ${answer.usage.cached.join(", ")})` : "";
    rows.push(["Time", time(total) + cached]);
  }
  if (answer.usage.model_calls) {
    const tokens = counted(answer.usage.prompt_tokens + answer.usage.completion_tokens, "token");
    rows.push(["Usage", answer.usage.cost === null ? tokens : `${tokens}, ${answer.usage.cost.toFixed(4)}`]);
  }
  return (
    <details className="confidence">
      <summary>
        {estimated && <span className={`dot ${level(answer.confidence)}`} aria-hidden="true" />}
        {summary(answer)}
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

/** What is said of the answer before it is opened. A reply and a question back have no estimate. */
const summary = (answer: Answer): string => {
  if (answer.outcome === "reply") return "No estimate: not an answer from passages";
  if (answer.outcome === "clarification") return "Asked back";
  return answer.abstained
    ? `Likelihood of an answer: ${percent(answer.answerability)}`
    : `Confidence ${percent(answer.confidence)}`;
};

const level = (confidence: number): string => (confidence >= 0.75 ? "high" : confidence >= 0.5 ? "middle" : "low");

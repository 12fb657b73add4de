import type { Answer, Statement } from "../api/types";
import { Icon } from "../shell/Icon";
import { words } from "../words/words";

export const percent = (share: number): string =>
  share > 0 && share < 0.01 ? words().underOne : `${Math.round(share * 100)}%`;
const time = (ms: number): string => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);

/** The confidence of an answer, and what it rests on when opened. */
export function Confidence({ answer }: { answer: Answer }) {
  const counted = (state: Statement["state"]) => answer.statements.filter((one) => one.state === state).length;
  const scores = answer.judge_scores;
  const total = answer.timings_ms.total;
  const say = words();
  const estimated = answer.outcome !== "reply" && answer.outcome !== "clarification";
  const likelihood = estimated ? answer.answerability : null;
  const rows: [string, string][] = likelihood === null ? [] : [[say.likelihood, percent(likelihood)]];
  if (answer.statements.length) {
    const counts = [counted("supported"), counted("unchecked"), counted("missing"), counted("contradicted")] as const;
    rows.push([say.sentences, say.states(...counts)]);
  }
  if (scores) {
    rows.push([say.judge, say.judged(scores.relevance, scores.factuality, scores.completeness)]);
  }
  if (estimated && !answer.abstained)
    rows.push([say.writtenBy, answer.model === "extractive" ? say.noModel : answer.model]);
  const method = answer.retrieval_method.replaceAll("_", " ");
  rows.push([say.search, answer.web_search_triggered ? say.andTheWeb(method) : method]);
  if (total !== undefined) {
    const { cached } = answer.usage;
    rows.push([say.time, cached.length ? say.cached(time(total), cached.join(", ")) : time(total)]);
  }
  if (answer.usage.model_calls) {
    const tokens = say.tokens(answer.usage.prompt_tokens + answer.usage.completion_tokens);
    rows.push([say.usage, answer.usage.cost === null ? tokens : `${tokens}, ${answer.usage.cost.toFixed(4)}`]);
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

/** What is said of the answer before it is opened. A reply and a question back have no estimate; an overview is
 * a reply, too, and cites. */
const summary = (answer: Answer): string => {
  const cited = answer.citations.length;
  if (answer.outcome === "reply") return cited ? words().citationCount(cited) : words().noEstimate;
  if (answer.outcome === "clarification") return words().askedBack;
  return answer.abstained
    ? `${words().likelihood}: ${percent(answer.answerability ?? 0)}`
    : words().confidence(percent(answer.confidence));
};

const level = (confidence: number): string => (confidence >= 0.75 ? "high" : confidence >= 0.5 ? "middle" : "low");

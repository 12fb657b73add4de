import { useCallback, useState } from "react";
import { ago } from "../shell/time";
import { adminWords } from "../words/admin";
import { language } from "../words/shared";
import { Plot } from "./Plot";
import { Failed, Figures, Table } from "./parts";
import { admin } from "./requests";
import { useLoaded } from "./useLoaded";

const SPANS = [7, 30, 90] as const;

/** What is stored, what was asked, how fast it was answered, what people said of it, and what was not found. */
export function OverviewView() {
  const say = adminWords();
  const [days, setDays] = useState<number>(SPANS[0]);
  const state = useLoaded(admin.state);
  const stats = useLoaded(useCallback(() => admin.stats(days), [days]));
  const asked = useLoaded(useCallback(() => admin.asked(days), [days]));
  const number = new Intl.NumberFormat(language(), { maximumFractionDigits: 1 });
  const total = stats.value?.total;
  const daily = [...(stats.value?.daily ?? [])].reverse();
  const seconds = (ms: number | undefined) => (ms === undefined ? "–" : `${number.format(ms / 1000)} s`);
  const figures: [string, string][] = [];
  if (state.value) figures.push([say.stored, number.format(state.value.documents)]);
  if (total) {
    figures.push([say.questions, number.format(total.questions)]);
    figures.push([say.answered, number.format(total.answered)]);
    figures.push([say.refused, number.format(total.refused + total.closest)]);
    figures.push([say.failed, number.format(total.failed)]);
    figures.push([say.typicalTime, seconds(total.times_ms.total?.p50)]);
  }
  if (asked.value) figures.push([say.opinions, `${asked.value.up} / ${asked.value.down}`]);
  return (
    <>
      <Failed error={state.error || stats.error || asked.error} />
      <label className="row">
        <span>{say.span}</span>
        <select value={days} onChange={(event) => setDays(Number(event.target.value))}>
          {SPANS.map((one) => (
            <option key={one} value={one}>
              {say.lastDays(one)}
            </option>
          ))}
        </select>
      </label>
      <Figures figures={figures} />
      {daily.length > 0 && (
        <div className="plots">
          <Plot
            title={say.questionsByDay}
            days={daily.map((one) => one.period)}
            parts={[
              { name: say.answered, values: daily.map((one) => one.answered), look: "good" },
              { name: say.refused, values: daily.map((one) => one.refused + one.closest), look: "weak" },
              { name: say.failed, values: daily.map((one) => one.failed), look: "bad" },
            ]}
          />
          <Plot
            title={say.secondsByDay}
            days={daily.map((one) => one.period)}
            parts={[
              {
                name: say.typicalTime,
                values: daily.map((one) => (one.times_ms.total?.p50 ?? 0) / 1000),
                look: "good",
              },
            ]}
          />
        </div>
      )}
      <h2>{say.notFound}</h2>
      <p className="quiet">{say.notFoundHint}</p>
      {asked.value && asked.value.unanswered.length === 0 && <p className="quiet">{say.allFound}</p>}
      {asked.value && asked.value.unanswered.length > 0 && (
        <Table label={say.notFound} head={[say.question, say.times, say.mayAnswer, say.last]}>
          {asked.value.unanswered.map((one) => (
            <tr key={one.question}>
              <th scope="row">{one.question}</th>
              <td>{one.count}</td>
              <td>{one.shown || "–"}</td>
              <td className="nowrap">{ago(one.last)}</td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}

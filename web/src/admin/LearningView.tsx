import { type FormEvent, useState } from "react";
import { ago } from "../shell/time";
import { adminWords } from "../words/admin";
import { language } from "../words/shared";
import { Failed, Figures, Table } from "./parts";
import { admin } from "./requests";
import { useLoaded } from "./useLoaded";

/** What a trial can change; the server says which values are out of bounds. */
const CHOICES = [
  "top_k",
  "vector_weight",
  "rerank",
  "web_threshold",
  "retrieval_share",
  "relevance",
  "factuality",
  "completeness",
  "slope",
  "shift",
] as const;

/** What opinions have taught: the policy in use, the trial under way, and all versions. */
export function LearningView() {
  const say = adminWords();
  const { value, error, change } = useLoaded(admin.learned);
  const [choice, setChoice] = useState<string>(CHOICES[0]);
  const number = new Intl.NumberFormat(language(), { maximumFractionDigits: 2 });
  const begin = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const fields = new FormData(form);
    const given = String(fields.get("value"));
    const wanted = choice === "rerank" ? given === "true" : Number(given);
    if (await change(() => admin.startTrial(choice, wanted, String(fields.get("why") ?? "")))) form.reset();
  };
  if (!value) return <Failed error={error} />;
  const { learned, policies } = value;
  return (
    <>
      <Failed error={error || learned.trouble} />
      <Figures
        figures={[
          [say.learningMode, say.modes[learned.mode as keyof typeof say.modes] ?? learned.mode],
          [say.votes, number.format(learned.votes)],
          [say.inUse, `${say.version} ${learned.champion}`],
          [say.trial, learned.trial || "–"],
        ]}
      />
      {learned.mode === "off" ? (
        <p className="quiet">{say.learningOff}</p>
      ) : (
        <>
          {learned.why && <p className="quiet">{learned.why}</p>}
          {learned.cautions.map((one) => (
            <p key={one} className="notice">
              {one}
            </p>
          ))}
        </>
      )}
      {learned.arms.length > 0 && (
        <Table label={say.trial} head={[say.version, say.changes, say.questions, say.votes, say.reward]}>
          {learned.arms.map((one) => (
            <tr key={one.arm.version}>
              <th scope="row">{one.arm.version}</th>
              <td>{one.changes.join(", ") || "–"}</td>
              <td>{number.format(one.arm.requests)}</td>
              <td>{number.format(one.arm.votes)}</td>
              <td>{number.format(one.arm.reward)}</td>
            </tr>
          ))}
        </Table>
      )}
      <Table label={say.versions} head={[say.version, say.changes, say.made, say.action]}>
        {policies.policies.map((one) => (
          <tr key={one.version}>
            <th scope="row">{one.version}</th>
            <td>{one.changes.join(", ") || say.asConfigured}</td>
            <td>{one.at ? ago(one.at) : "–"}</td>
            <td>
              {one.version === policies.in_use ? (
                say.inUse
              ) : (
                <button
                  type="button"
                  className="button small"
                  aria-label={say.versionInUse(one.version)}
                  onClick={() =>
                    void change(() =>
                      one.version < policies.in_use ? admin.revert(one.version) : admin.promote(one.version),
                    )
                  }
                >
                  {one.version < policies.in_use ? say.goBack : say.use}
                </button>
              )}
            </td>
          </tr>
        ))}
      </Table>
      {learned.mode !== "off" && (
        <form className="row" onSubmit={(event) => void begin(event)}>
          <label className="field">
            <span>{say.choice}</span>
            <select value={choice} onChange={(event) => setChoice(event.target.value)}>
              {CHOICES.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </label>
          {choice === "rerank" ? (
            <label className="field">
              <span>{say.value}</span>
              <select name="value">
                <option>true</option>
                <option>false</option>
              </select>
            </label>
          ) : (
            <label className="field">
              <span>{say.value}</span>
              <input name="value" type="number" step="any" required />
            </label>
          )}
          <label className="field grow">
            <span>{say.why}</span>
            <input name="why" maxLength={1000} />
          </label>
          <button type="submit" className="button">
            {say.startTrial}
          </button>
        </form>
      )}
    </>
  );
}

import { type FormEvent, useEffect } from "react";
import type { Job } from "../api/types";
import { ago } from "../shell/time";
import { adminWords } from "../words/admin";
import { Failed, Table } from "./parts";
import { admin } from "./requests";
import { SourcesTable } from "./SourcesTable";
import { useLoaded } from "./useLoaded";

const EVERY = 2000;
const SOURCES_EVERY = 10_000;

/** The sources that can be synced, and the jobs of all callers, followed while they run. */
export function JobsView() {
  const say = adminWords();
  const { value, error, change } = useLoaded(admin.jobs, EVERY);
  const sources = useLoaded(admin.sources, SOURCES_EVERY);
  const { reload } = sources;
  const ended = Math.max(0, ...(value ?? []).map((one) => one.ended ?? 0));
  useEffect(() => {
    if (ended > 0) reload(); // a job that is over may have been the sync of a source
  }, [ended, reload]);
  const add = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const source = String(new FormData(form).get("source")).trim();
    if (await sources.change(() => admin.addSource(source))) form.reset();
  };
  return (
    <>
      <Failed error={error || sources.error} />
      <details className="panel">
        <summary>{say.addSource}</summary>
        <form className="stack" onSubmit={(event) => void add(event)}>
          <label className="field">
            <span>{say.sourceAddress}</span>
            <input name="source" required maxLength={2000} placeholder="https://docs.example" spellCheck={false} />
          </label>
          <p className="quiet small">{say.sourceHint}</p>
          <button type="submit" className="button primary">
            {say.addSource}
          </button>
        </form>
      </details>
      {sources.value && sources.value.length === 0 && <p className="quiet">{say.noSources}</p>}
      {sources.value && sources.value.length > 0 && (
        <SourcesTable
          sources={sources.value}
          onSync={(source) => void change(() => admin.sync(source))}
          onRemove={(source) => void sources.change(() => admin.removeSource(source))}
          onSchedule={(source, every, paused) => void sources.change(() => admin.schedule(source, every, paused))}
        />
      )}
      {value && value.length === 0 && <p className="quiet">{say.noJobs}</p>}
      {value && value.length > 0 && (
        <Table label={say.tabs.jobs} head={[say.what, say.state, say.progress, say.begun, say.action]}>
          {value.map((one) => (
            <tr key={one.job_id}>
              <th scope="row">{named(one)}</th>
              <td>
                {say.states[one.state]}
                {(one.error ?? one.progress.waiting) && (
                  <small className="quiet block">{one.error ?? say.jobWaits(one.progress.waiting)}</small>
                )}
              </td>
              <td>{progressOf(one)}</td>
              <td>{ago(one.at)}</td>
              <td>
                {one.ended === null && (
                  <button
                    type="button"
                    className="button small"
                    aria-label={say.stopNamed(named(one))}
                    onClick={() => void change(() => admin.cancelJob(one.job_id))}
                  >
                    {say.stop}
                  </button>
                )}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}

function named(job: Job): string {
  const all = [...job.files, ...job.sources];
  const rest = all.length > 1 ? ` + ${all.length - 1}` : "";
  return `${all[0] ?? job.kind}${rest}`;
}

/** What a job that is over stored and removed; the documents that stayed as they were, too. */
export function resultOf({ progress, report }: Job): string {
  const say = adminWords();
  const rest = [
    report?.unchanged ? say.unchanged(report.unchanged) : "",
    report?.removed ? say.removed(report.removed) : "",
  ].filter(Boolean);
  return [...(progress.documents || !rest.length ? [say.documents(progress.documents)] : []), ...rest].join(", ");
}

function progressOf(job: Job) {
  const say = adminWords();
  if (job.ended !== null) return resultOf(job);
  return (
    <>
      <progress aria-label={named(job)} max={1} value={job.progress.share} />
      <small className="quiet">{say.documents(job.progress.documents)}</small>
    </>
  );
}

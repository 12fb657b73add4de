import type { SyncedSource } from "../api/types";
import { ago } from "../shell/time";
import { adminWords } from "../words/admin";
import { language } from "../words/shared";
import { Table } from "./parts";

const HOUR = 3600;
/** How often a source can be synced here, in seconds; programs may set any other time. */
const TIMES = [HOUR, 6 * HOUR, 24 * HOUR, 7 * 24 * HOUR];

interface Props {
  sources: readonly SyncedSource[];
  onSync: (source: string) => void;
  onRemove: (source: string) => void;
  onSchedule: (source: string, every: number | null, paused: boolean) => void;
}

/** The sources that can be synced: how their last sync ended, and how often they are synced. */
export function SourcesTable({ sources, onSync, onRemove, onSchedule }: Props) {
  const say = adminWords();
  return (
    <Table label={say.sources} head={[say.source, say.lastSync, say.schedule, say.nextSync, say.action]}>
      {sources.map(({ source, added, every_seconds: seconds, paused, next, last }) => (
        <tr key={source}>
          <th scope="row">{source}</th>
          <td>
            {last ? `${say.states[last.state]} · ${ago(last.ended ?? last.at)}` : "–"}
            {last && last.skipped > 0 && <small className="quiet block">{say.notRead(last.skipped)}</small>}
            {last?.error && <small className="quiet block">{last.error}</small>}
          </td>
          <td>
            <select
              aria-label={say.scheduleOf(source)}
              value={seconds ?? 0}
              onChange={(event) => onSchedule(source, Number(event.target.value) || null, paused)}
            >
              <option value={0}>{say.onDemand}</option>
              {[...new Set([...TIMES, ...(seconds ? [seconds] : [])])].map((one) => (
                <option key={one} value={one}>
                  {every(one)}
                </option>
              ))}
            </select>
          </td>
          <td className="nowrap">{next === null ? (paused ? say.paused : "–") : at(next)}</td>
          <td>
            <div className="row">
              <button
                type="button"
                className="button small"
                aria-label={say.syncNamed(source)}
                onClick={() => onSync(source)}
              >
                {say.sync}
              </button>
              {seconds !== null && (
                <button
                  type="button"
                  className="button small"
                  aria-label={paused ? say.resumeNamed(source) : say.pauseNamed(source)}
                  onClick={() => onSchedule(source, seconds, !paused)}
                >
                  {paused ? say.resume : say.pause}
                </button>
              )}
              {added && (
                <button
                  type="button"
                  className="button small"
                  aria-label={say.removeNamed(source)}
                  onClick={() => onRemove(source)}
                >
                  {say.remove}
                </button>
              )}
            </div>
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** How often something happens, in the largest unit that divides the seconds: "every hour", "every 6 hours". */
export function every(seconds: number): string {
  const [unit, size] =
    seconds % 86_400 === 0
      ? (["day", 86_400] as const)
      : seconds % HOUR === 0
        ? (["hour", HOUR] as const)
        : (["minute", 60] as const);
  if (seconds === size) return adminWords().everyOne[unit];
  const time = new Intl.NumberFormat(language(), {
    style: "unit",
    unit,
    unitDisplay: "long",
    maximumFractionDigits: 1,
  }).format(seconds / size);
  return adminWords().every(time);
}

const at = (seconds: number) =>
  new Intl.DateTimeFormat(language(), { dateStyle: "medium", timeStyle: "short" }).format(seconds * 1000);

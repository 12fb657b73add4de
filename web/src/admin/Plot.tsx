import { language } from "../words/shared";

interface Part {
  name: string;
  values: readonly number[];
  look: "good" | "weak" | "bad";
}

interface Props {
  title: string;
  /** As 2026-01-31, the oldest first. */
  days: readonly string[];
  parts: readonly Part[];
}

const WIDTH = 400;
const HEIGHT = 130;
const FOOT = 18;

/** Bars by day, stacked; the numbers are in a table for those who cannot see them. */
export function Plot({ title, days, parts }: Props) {
  const sums = days.map((_, at) => parts.reduce((sum, part) => sum + (part.values[at] ?? 0), 0));
  const most = Math.max(...sums, Number.MIN_VALUE);
  const step = WIDTH / Math.max(days.length, 7);
  const number = new Intl.NumberFormat(language(), { maximumFractionDigits: 2 });
  const day = new Intl.DateTimeFormat(language(), { day: "numeric", month: "short", timeZone: "UTC" });
  const name = (at: number) => day.format(new Date(`${days[at]}T00:00:00Z`));
  const first = 0;
  const last = days.length - 1;
  return (
    <figure className="plot">
      <figcaption>
        {title}
        {parts.length > 1 &&
          parts.map((part) => (
            <small key={part.name} className={`key ${part.look}`}>
              {part.name}
            </small>
          ))}
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT + FOOT}`} aria-hidden="true" focusable="false">
        <line x1="0" x2={WIDTH} y1={HEIGHT} y2={HEIGHT} className="axis" />
        {days.map((one, at) => {
          let top = HEIGHT;
          return parts.map((part) => {
            const height = ((part.values[at] ?? 0) / most) * (HEIGHT - 16);
            top -= height;
            return (
              <rect
                key={`${one} ${part.name}`}
                className={part.look}
                x={at * step + step * 0.15}
                y={top}
                width={step * 0.7}
                height={height}
              />
            );
          });
        })}
        <text x="0" y="11">
          {number.format(Math.max(...sums))}
        </text>
        <text x="0" y={HEIGHT + 14}>
          {name(first)}
        </text>
        {last > 0 && (
          <text x={(last + 1) * step} y={HEIGHT + 14} textAnchor="end">
            {name(last)}
          </text>
        )}
      </svg>
      <table className="visually-hidden">
        <caption>{title}</caption>
        <tbody>
          {days.map((one, at) => (
            <tr key={one}>
              <th scope="row">{name(at)}</th>
              {parts.map((part) => (
                <td key={part.name}>{`${part.name}: ${number.format(part.values[at] ?? 0)}`}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}

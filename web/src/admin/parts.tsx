import { Children, cloneElement, isValidElement, type PropsWithChildren, type ReactNode } from "react";
import { Icon } from "../shell/Icon";
import { adminWords } from "../words/admin";
import type { Rights } from "./requests";

const SCOPES = ["read", "write", "tokens", "admin"] as const;

/** Why something failed, if it did. */
export function Failed({ error }: { error: string }) {
  return (
    error && (
      <p className="notice warn" role="alert">
        <Icon name="warn" /> <span>{error}</span>
      </p>
    )
  );
}

/** Characters of the longest figure that a card among others has room for. */
const SHORT = 24;

/** Figures, each under its name; a long text, such as a path, has a row of its own. */
export function Figures({ figures }: { figures: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="figures">
      {figures.map(([name, figure]) => (
        <div key={name} className={typeof figure === "string" && figure.length > SHORT ? "long" : undefined}>
          <dt>{name}</dt>
          <dd>{figure}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Return a row whose cells know their headings, which stand above them where there is no room for columns. */
function labelled(row: ReactNode, head: readonly string[]): ReactNode {
  if (!isValidElement<PropsWithChildren>(row)) return row;
  const cells = Children.map(row.props.children, (cell, at) =>
    isValidElement<{ "data-head"?: string | undefined }>(cell) ? cloneElement(cell, { "data-head": head[at] }) : cell,
  );
  return cloneElement(row, {}, cells);
}

/** A table that becomes wide rather than narrow: it scrolls within itself. On a phone, the cells of a row are a list. */
export function Table({ label, head, children }: { label: string; head: readonly string[]; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with the keyboard
    <section className="wide" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((one) => (
              <th key={one} scope="col">
                {one}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{Children.map(children, (row) => labelled(row, head))}</tbody>
      </table>
    </section>
  );
}

/** Fields for what somebody may do and read; only keys make tokens. Names of groups are separated by commas. */
export function RightsFields({ rights, isKey = false }: { rights?: Rights | undefined; isKey?: boolean }) {
  const say = adminWords();
  const reads = !rights || rights.groups === null ? "all" : "groups";
  return (
    <>
      <fieldset className="row">
        <legend>{say.may}</legend>
        {SCOPES.filter((scope) => isKey || scope !== "tokens").map((scope) => (
          <label key={scope} className="check">
            <input
              type="checkbox"
              name="scope"
              value={scope}
              defaultChecked={rights ? rights.scopes.includes(scope) : scope === "read"}
            />
            <span>{say.scopes[scope]}</span>
          </label>
        ))}
      </fieldset>
      <fieldset className="row">
        <legend>{say.reads}</legend>
        <label className="choice">
          <input type="radio" name="reads" value="all" defaultChecked={reads === "all"} /> <span>{say.everything}</span>
        </label>
        <label className="choice">
          <input type="radio" name="reads" value="groups" defaultChecked={reads === "groups"} />{" "}
          <span>{say.publicAnd}</span>
        </label>
        <input
          name="groups"
          aria-label={say.groups}
          placeholder={say.groupsHint}
          defaultValue={rights?.groups?.join(", ") ?? ""}
        />
      </fieldset>
    </>
  );
}

/** Return the rights in a form with `RightsFields`. */
export function rightsIn(form: FormData): Rights {
  const groups = String(form.get("groups") ?? "")
    .split(",")
    .map((one) => one.trim())
    .filter(Boolean);
  return {
    scopes: form.getAll("scope") as Rights["scopes"],
    groups: form.get("reads") === "all" ? null : groups,
  };
}

/** What may be read, in words. */
export function readsText(groups: readonly string[] | null): string {
  const say = adminWords();
  if (groups === null) return say.everything;
  return groups.length ? groups.join(", ") : say.publicOnly;
}

export const scopesText = (scopes: readonly (typeof SCOPES)[number][]) =>
  scopes.map((one) => adminWords().scopes[one]).join(", ");

import { type FormEvent, useState } from "react";
import type { StoredKey } from "../api/types";
import { CopyButton } from "../chat/CopyButton";
import { ConfirmDialog } from "../shell/ConfirmDialog";
import { ago } from "../shell/time";
import { adminWords } from "../words/admin";
import { Failed, RightsFields, readsText, rightsIn, scopesText, Table } from "./parts";
import { admin } from "./requests";
import { useLoaded } from "./useLoaded";

/** The keys of programs: list, make, revoke. */
export function KeysView() {
  const say = adminWords();
  const { value, error, change } = useLoaded(admin.keys);
  const [secret, setSecret] = useState("");
  const [revoked, setRevoked] = useState<StoredKey | null>(null);
  const make = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const given = new FormData(form);
    const made = await change(async () => {
      setSecret((await admin.makeKey(String(given.get("name")), rightsIn(given))).secret);
    });
    if (made) form.reset();
  };
  return (
    <>
      <Failed error={error} />
      {secret && (
        <div className="notice secret" role="status">
          <span>{say.keyOnce}</span> <code>{secret}</code> <CopyButton text={() => secret} label={say.copyKey} />
        </div>
      )}
      <details className="panel">
        <summary>{say.makeKey}</summary>
        <form className="stack" onSubmit={(event) => void make(event)}>
          <label className="field">
            <span>{say.ownerOrPurpose}</span>
            <input name="name" required maxLength={100} autoComplete="off" />
          </label>
          <RightsFields isKey />
          <button type="submit" className="button primary">
            {say.makeKey}
          </button>
        </form>
      </details>
      {value && value.length === 0 && <p className="quiet">{say.noKeys}</p>}
      {value && value.length > 0 && (
        <Table label={say.tabs.keys} head={[say.name, say.may, say.reads, say.made, say.action]}>
          {value.map((one) => (
            <tr key={one.id}>
              <th scope="row">
                {one.name} <small className="quiet">{one.id}</small>
              </th>
              <td>{scopesText(one.scopes)}</td>
              <td>{readsText(one.groups)}</td>
              <td>{ago(one.made)}</td>
              <td>
                {one.revoked === null ? (
                  <button
                    type="button"
                    className="button small"
                    aria-label={say.revokeNamed(`${one.name} ${one.id}`)}
                    onClick={() => setRevoked(one)}
                  >
                    {say.revoke}
                  </button>
                ) : (
                  <span className="quiet">{say.revoked}</span>
                )}
              </td>
            </tr>
          ))}
        </Table>
      )}
      {revoked && (
        <ConfirmDialog
          title={say.revokeNamed(revoked.name)}
          text={say.revokeHint}
          action={say.revoke}
          onConfirm={async () => void (await change(() => admin.revokeKey(revoked.id)))}
          onClose={() => setRevoked(null)}
        />
      )}
    </>
  );
}

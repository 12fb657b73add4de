import { type FormEvent, useState } from "react";
import type { Person } from "../api/types";
import { ConfirmDialog } from "../shell/ConfirmDialog";
import { Modal } from "../shell/Modal";
import { adminWords } from "../words/admin";
import { Failed, RightsFields, readsText, rightsIn, scopesText, Table } from "./parts";
import { admin } from "./requests";
import { useLoaded } from "./useLoaded";

/** Who signs in: users with passwords, who can be changed, and whoever is signed in through the provider. */
export function PeopleView() {
  const say = adminWords();
  const { value, error, change } = useLoaded(admin.people);
  const [changed, setChanged] = useState<Person | null>(null);
  const [removed, setRemoved] = useState<Person | null>(null);
  const add = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const given = new FormData(form);
    const done = await change(() =>
      admin.addPerson(String(given.get("name")), String(given.get("password")), rightsIn(given)),
    );
    if (done) form.reset();
  };
  const update = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const { name } = changed as Person;
    setChanged(null);
    await change(() => admin.changePerson(name, String(given.get("password")), rightsIn(given)));
  };
  return (
    <>
      <Failed error={error} />
      <details className="panel">
        <summary>{say.addPerson}</summary>
        <form className="stack" onSubmit={(event) => void add(event)}>
          <label className="field">
            <span>{say.userName}</span>
            <input name="name" required maxLength={64} autoComplete="off" autoCapitalize="none" spellCheck={false} />
          </label>
          <label className="field">
            <span>{say.firstPassword}</span>
            <input name="password" type="password" required minLength={10} autoComplete="new-password" />
          </label>
          <RightsFields />
          <button type="submit" className="button primary">
            {say.addPerson}
          </button>
        </form>
      </details>
      {value && value.length === 0 && <p className="quiet">{say.nobody}</p>}
      {value && value.length > 0 && (
        <Table label={say.tabs.people} head={[say.name, say.may, say.reads, say.signedIn, say.action]}>
          {value.map((one) => (
            <tr key={one.name}>
              <th scope="row">
                {one.shown} {one.via === "oidc" && <small className="quiet">{say.viaProvider}</small>}
              </th>
              <td>{scopesText(one.scopes)}</td>
              <td>{readsText(one.groups)}</td>
              <td>{one.sessions || ""}</td>
              <td className="row">
                {one.via === "password" && (
                  <button
                    type="button"
                    className="button small"
                    aria-label={say.changeNamed(one.shown)}
                    onClick={() => setChanged(one)}
                  >
                    {say.change}
                  </button>
                )}
                {one.sessions > 0 && (
                  <button
                    type="button"
                    className="button small"
                    aria-label={say.signOutNamed(one.shown)}
                    onClick={() => void change(() => admin.signPersonOut(one.name))}
                  >
                    {say.signOut}
                  </button>
                )}
                {one.via === "password" && (
                  <button
                    type="button"
                    className="button small"
                    aria-label={say.removeNamed(one.shown)}
                    onClick={() => setRemoved(one)}
                  >
                    {say.remove}
                  </button>
                )}
              </td>
            </tr>
          ))}
        </Table>
      )}
      {changed && (
        <Modal title={say.changeNamed(changed.shown)} onClose={() => setChanged(null)}>
          <form className="stack" onSubmit={(event) => void update(event)}>
            <RightsFields rights={changed} />
            <label className="field">
              <span>{say.newPassword}</span>
              <input name="password" type="password" minLength={10} autoComplete="new-password" />
            </label>
            <p className="quiet small">{say.changeHint}</p>
            <div className="row end">
              <button type="submit" className="button primary">
                {say.change}
              </button>
            </div>
          </form>
        </Modal>
      )}
      {removed && (
        <ConfirmDialog
          title={say.removeNamed(removed.shown)}
          text={say.removeHint}
          action={say.remove}
          onConfirm={async () => void (await change(() => admin.removePerson(removed.name)))}
          onClose={() => setRemoved(null)}
        />
      )}
    </>
  );
}

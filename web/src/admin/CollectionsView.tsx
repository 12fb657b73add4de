import { type FormEvent, useState } from "react";
import { api } from "../api/client";
import type { Collection } from "../api/types";
import { ConfirmDialog } from "../shell/ConfirmDialog";
import { Modal } from "../shell/Modal";
import { adminWords } from "../words/admin";
import { Failed, Table } from "./parts";
import { admin } from "./requests";
import { useLoaded } from "./useLoaded";

/** Named filters that readers choose beside the question. */
export function CollectionsView() {
  const say = adminWords();
  const { value, error, change } = useLoaded(api.collections);
  const [replacing, setReplacing] = useState<{ collection: Collection; form: HTMLFormElement } | null>(null);
  const [changed, setChanged] = useState<Collection | null>(null);
  const put = async (collection: Collection, form: HTMLFormElement, replace = false) => {
    if (await change(() => admin.putCollection({ ...collection, replace }))) form.reset();
  };
  const add = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const given = new FormData(form);
    const collection = collectionIn(given, String(given.get("name")).trim());
    if (value?.some((one) => one.name === collection.name)) setReplacing({ collection, form });
    else await put(collection, form);
  };
  const update = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const collection = collectionIn(new FormData(event.currentTarget), (changed as Collection).name);
    setChanged(null);
    await change(() => admin.putCollection({ ...collection, replace: true }));
  };
  return (
    <>
      <p className="quiet">{say.collectionsHint}</p>
      <Failed error={error} />
      <details className="panel">
        <summary>{say.addCollection}</summary>
        <form className="stack" onSubmit={(event) => void add(event)}>
          <label className="field">
            <span>{say.name}</span>
            <input name="name" required maxLength={60} autoComplete="off" />
          </label>
          <CollectionFields />
          <button type="submit" className="button primary">
            {say.addCollection}
          </button>
        </form>
      </details>
      {value && value.length > 0 && (
        <Table label={say.tabs.collections} head={[say.name, say.itsDocuments, say.seenBy, say.questions, say.action]}>
          {value.map((one) => (
            <tr key={one.name}>
              <th scope="row">{one.name}</th>
              <td>
                <code>{one.where}</code>
              </td>
              <td>{one.groups?.join(", ") ?? say.everybody}</td>
              <td>{one.questions.length || "–"}</td>
              <td>
                <div className="row">
                  <button
                    type="button"
                    className="button small"
                    aria-label={say.changeNamed(one.name)}
                    onClick={() => setChanged(one)}
                  >
                    {say.change}
                  </button>
                  <button
                    type="button"
                    className="button small"
                    aria-label={say.removeNamed(one.name)}
                    onClick={() => void change(() => admin.removeCollection(one.name))}
                  >
                    {say.remove}
                  </button>
                </div>
              </td>
            </tr>
          ))}
        </Table>
      )}
      {changed && (
        <Modal title={say.changeNamed(changed.name)} onClose={() => setChanged(null)}>
          <form className="stack" onSubmit={(event) => void update(event)}>
            <CollectionFields collection={changed} />
            <div className="row end">
              <button type="submit" className="button primary">
                {say.change}
              </button>
            </div>
          </form>
        </Modal>
      )}
      {replacing && (
        <ConfirmDialog
          title={say.replaceNamed(replacing.collection.name)}
          text={say.replaceHint}
          action={say.replace}
          onConfirm={() => put(replacing.collection, replacing.form, true)}
          onClose={() => setReplacing(null)}
        />
      )}
    </>
  );
}

/** What a collection has besides its name. */
function CollectionFields({ collection }: { collection?: Collection }) {
  const say = adminWords();
  return (
    <>
      <label className="field">
        <span>{say.itsDocuments}</span>
        <input
          name="where"
          required
          placeholder="kind = pdf and language = en"
          spellCheck={false}
          defaultValue={collection?.where}
        />
      </label>
      <label className="field">
        <span>{say.seenBy}</span>
        <input
          name="groups"
          placeholder={say.groupsHint}
          spellCheck={false}
          defaultValue={collection?.groups?.join(", ")}
        />
      </label>
      <label className="field">
        <span>{say.firstQuestions}</span>
        <textarea name="questions" rows={3} defaultValue={collection?.questions.join("\n")} />
      </label>
    </>
  );
}

/** Return the collection of this name in a form with `CollectionFields`. */
function collectionIn(given: FormData, name: string): Collection {
  const listed = (field: string, sign: string) =>
    String(given.get(field))
      .split(sign)
      .map((one) => one.trim())
      .filter(Boolean);
  const groups = listed("groups", ",");
  const questions = listed("questions", "\n");
  return { name, where: String(given.get("where")), groups: groups.length ? groups : null, questions };
}

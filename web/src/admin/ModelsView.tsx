import { type FormEvent, useState } from "react";
import { told } from "../api/errors";
import type { ModelServer, ModelTrial, RunningServer } from "../api/types";
import { useAnnounce } from "../shell/Announcer";
import { ConfirmDialog } from "../shell/ConfirmDialog";
import { adminWords } from "../words/admin";
import { language } from "../words/shared";
import { Failed, Figures, Table } from "./parts";
import { admin } from "./requests";
import { useLoaded } from "./useLoaded";

const QUOTED = "extractive";

/** The language model that answers, the models that run here, and the servers that were added. */
export function ModelsView() {
  const say = adminWords();
  const announce = useAnnounce();
  const { value, error, change } = useLoaded(admin.models);
  const [trial, setTrial] = useState<ModelTrial | null>(null);
  const [trying, setTrying] = useState("");
  const [failed, setFailed] = useState("");

  const attempt = async (name: string) => {
    setTrying(name);
    setTrial(null);
    setFailed("");
    try {
      const found = await admin.tryModel(name);
      setTrial(found.trial);
      if (found.problem) setFailed(`${name}: ${found.problem}`);
      else announce(say.modelAnswered(name));
    } catch (problem) {
      setFailed(told(problem));
    }
    setTrying("");
  };
  const choose = async (name: string | null) => {
    if (await change(() => admin.chooseModel(name))) announce(say.modelChosen);
  };
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get("model")).trim();
    const button = (event.nativeEvent as SubmitEvent).submitter as HTMLButtonElement | null;
    await (button?.value === "try" ? attempt(name) : choose(name));
  };

  return (
    <>
      <Failed error={error || failed} />
      {value && <Figures figures={[[say.answersNow, value.model === QUOTED ? say.quotesOnly : value.model]]} />}
      <form className="row" aria-label={say.chooseModel} onSubmit={(event) => void submit(event)}>
        <label className="field grow">
          <span>{say.model}</span>
          <input
            name="model"
            required
            maxLength={200}
            autoComplete="off"
            spellCheck={false}
            placeholder="ollama:llama3.2:3b"
          />
        </label>
        <button type="submit" className="button primary" value="choose">
          {say.use}
        </button>
        <button type="submit" className="button" value="try" disabled={trying !== ""}>
          {trying ? say.testing : say.tryIt}
        </button>
        {value?.changed && (
          <button type="button" className="button" onClick={() => void choose(null)}>
            {say.reset}
          </button>
        )}
      </form>
      {trial && <Trial trial={trial} />}
      <Running trying={trying} onTry={attempt} onChoose={choose} />
      <Servers servers={value?.servers ?? []} change={change} />
    </>
  );
}

/** What one question showed of a model. */
function Trial({ trial }: { trial: ModelTrial }) {
  const say = adminWords();
  const number = new Intl.NumberFormat(language(), { maximumFractionDigits: 1 });
  const facts: [string, string][] = [
    [say.time, `${number.format(trial.seconds)} s`],
    [say.firstWord, `${number.format(trial.first_seconds)} s`],
    [say.speed, number.format(trial.tokens_per_second)],
    [say.window, trial.window === null ? "–" : number.format(trial.window)],
    [say.keepsForm, trial.keeps_form ? say.yes : say.no],
  ];
  return (
    <section className="panel" aria-label={trial.name}>
      <p>
        <strong>{trial.name}</strong>: {trial.answer}
      </p>
      <Figures figures={facts} />
    </section>
  );
}

interface RunningProps {
  /** The model that is being tested; empty if none is. */
  trying: string;
  onTry: (name: string) => Promise<void>;
  onChoose: (name: string) => Promise<void>;
}

/** The models that run on this machine, once somebody looks for them. */
function Running({ trying, onTry, onChoose }: RunningProps) {
  const say = adminWords();
  const [servers, setServers] = useState<readonly RunningServer[] | null>(null);
  const [looking, setLooking] = useState(false);
  const [failed, setFailed] = useState("");
  const number = new Intl.NumberFormat(language());
  const look = async () => {
    setLooking(true);
    setFailed("");
    try {
      setServers(await admin.runningModels());
    } catch (problem) {
      setFailed(told(problem));
    }
    setLooking(false);
  };
  const models = servers?.flatMap((one) => one.models.map((model) => ({ ...model, address: one.address }))) ?? [];
  return (
    <>
      <div>
        <button type="button" className="button" disabled={looking} onClick={() => void look()}>
          {looking ? say.looking : say.findModels}
        </button>
      </div>
      <Failed error={failed} />
      {servers
        ?.filter((one) => one.trouble)
        .map((one) => (
          <p key={one.address} className="notice">
            {one.name} ({one.address}): {one.trouble}
          </p>
        ))}
      {servers?.length === 0 && <p role="status">{say.noModels}</p>}
      {models.length > 0 && (
        <Table label={say.models} head={[say.model, say.window, say.server, say.action]}>
          {models.map((one) => (
            <tr key={`${one.address} ${one.name}`}>
              <th scope="row">{one.name}</th>
              <td>{one.window === null ? "–" : number.format(one.window)}</td>
              <td>{one.address}</td>
              <td>
                <div className="row">
                  <button
                    type="button"
                    className="button small"
                    aria-label={say.chooseNamed(one.name)}
                    onClick={() => void onChoose(one.name)}
                  >
                    {say.use}
                  </button>
                  <button
                    type="button"
                    className="button small"
                    aria-label={say.tryNamed(one.name)}
                    disabled={trying !== ""}
                    onClick={() => void onTry(one.name)}
                  >
                    {trying === one.name ? say.testing : say.tryIt}
                  </button>
                </div>
              </td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}

interface ServersProps {
  servers: readonly ModelServer[];
  change: (act: () => Promise<unknown>) => Promise<boolean>;
}

/** The servers of models: those of the settings, and those that were added here. */
function Servers({ servers, change }: ServersProps) {
  const say = adminWords();
  const [removed, setRemoved] = useState<ModelServer | null>(null);
  const add = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const given = new FormData(form);
    const text = (field: string) => String(given.get(field) ?? "").trim();
    if (await change(() => admin.addModelServer(text("name"), text("address"), text("key")))) form.reset();
  };
  return (
    <>
      <details className="panel">
        <summary>{say.addServer}</summary>
        <form className="stack" onSubmit={(event) => void add(event)}>
          <label className="field">
            <span>{say.serverName}</span>
            <input name="name" required maxLength={40} autoComplete="off" spellCheck={false} placeholder="openai" />
          </label>
          <label className="field">
            <span>{say.serverAddress}</span>
            <input name="address" type="url" maxLength={1000} autoComplete="off" placeholder="http://HOST:PORT/v1" />
          </label>
          <label className="field">
            <span>{say.serverKey}</span>
            <input name="key" type="password" maxLength={1000} autoComplete="new-password" />
          </label>
          <p className="quiet small">{say.serverHint}</p>
          <button type="submit" className="button primary">
            {say.addServer}
          </button>
        </form>
      </details>
      {servers.length > 0 && (
        <Table label={say.servers} head={[say.server, say.address, say.key, say.action]}>
          {servers.map((one) => (
            <tr key={one.name}>
              <th scope="row">{one.name}</th>
              <td>{one.address}</td>
              <td>{one.has_key ? say.keyStored : "–"}</td>
              <td>
                {one.added ? (
                  <button
                    type="button"
                    className="button small"
                    aria-label={say.removeNamed(one.name)}
                    onClick={() => setRemoved(one)}
                  >
                    {say.remove}
                  </button>
                ) : (
                  <span className="quiet">{say.inSettings}</span>
                )}
              </td>
            </tr>
          ))}
        </Table>
      )}
      {removed && (
        <ConfirmDialog
          title={say.removeNamed(removed.name)}
          text={say.removeServerHint}
          action={say.remove}
          onConfirm={async () => void (await change(() => admin.removeModelServer(removed.name)))}
          onClose={() => setRemoved(null)}
        />
      )}
    </>
  );
}

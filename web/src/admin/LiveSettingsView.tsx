import type { FormEvent } from "react";
import type { LiveSetting } from "../api/types";
import { ago } from "../shell/time";
import { adminWords } from "../words/admin";
import { Failed, Table } from "./parts";
import { admin } from "./requests";
import { useLoaded } from "./useLoaded";

/** The settings of questions that may change while servers run: what is configured, and what holds instead. */
export function LiveSettingsView() {
  const say = adminWords();
  const { value, error, change } = useLoaded(admin.settings);
  const submit = async (event: FormEvent<HTMLFormElement>, one: LiveSetting) => {
    event.preventDefault();
    const given = String(new FormData(event.currentTarget).get("value")).trim();
    const wanted = typeof one.configured === "number" ? Number(given) : given;
    await change(() => admin.changeSetting(one.path, wanted));
  };
  return (
    <>
      <p className="quiet">{say.settingsHint}</p>
      <Failed error={error} />
      {value && (
        <Table label={say.tabs.settings} head={[say.setting, say.configured, say.now, say.action]}>
          {value.map((one) => (
            <tr key={`${one.path} ${one.at}`}>
              <th scope="row">
                {(say.settingNames as Record<string, string>)[one.path] ?? one.description}
                <small className="quiet block">
                  <code>{one.path}</code>
                </small>
              </th>
              <td>{shown(one.configured)}</td>
              <td>{one.at === null ? say.reset : `${shown(one.changed)} · ${ago(one.at)}`}</td>
              <td>
                <form className="row" onSubmit={(event) => void submit(event, one)}>
                  <input
                    name="value"
                    size={8}
                    aria-label={say.newValue(one.path)}
                    defaultValue={String(one.changed ?? one.configured ?? "")}
                    {...(typeof one.configured === "number" ? { type: "number", step: "any", required: true } : {})}
                  />
                  <button type="submit" className="button small" aria-label={say.changeNamed(one.path)}>
                    {say.change}
                  </button>
                  {one.at !== null && (
                    <button
                      type="button"
                      className="button small"
                      aria-label={say.resetNamed(one.path)}
                      onClick={() => void change(() => admin.changeSetting(one.path, null))}
                    >
                      {say.reset}
                    </button>
                  )}
                </form>
              </td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}

const shown = (value: LiveSetting["configured"]) => (value === null || value === "" ? "–" : String(value));

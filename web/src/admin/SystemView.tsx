import { useState } from "react";
import { told } from "../api/errors";
import type { ModelTest } from "../api/types";
import { adminWords } from "../words/admin";
import { language } from "../words/shared";
import { Failed, Figures, Table } from "./parts";
import { admin } from "./requests";
import { useLoaded } from "./useLoaded";

/** What is stored and by which engines it is found, and whether the models answer. */
export function SystemView() {
  const say = adminWords();
  const { value, error } = useLoaded(admin.state);
  const [models, setModels] = useState<ModelTest[] | null>(null);
  const [failed, setFailed] = useState("");
  const [testing, setTesting] = useState(false);
  const number = new Intl.NumberFormat(language(), { maximumFractionDigits: 1 });
  const seconds = new Intl.NumberFormat(language(), { maximumFractionDigits: 3 });
  const test = async () => {
    setTesting(true);
    setFailed("");
    try {
      setModels(await admin.testModels());
    } catch (problem) {
      setFailed(told(problem));
    }
    setTesting(false);
  };
  const facts: [string, string][] = value
    ? [
        [say.version, value.version],
        [say.preset, value.preset || "–"],
        [say.stored, number.format(value.documents)],
        [say.passages, number.format(value.chunks)],
        [say.size, `${number.format(value.megabytes)} MB`],
        [say.unreadable, number.format(value.skipped)],
      ]
    : [];
  return (
    <>
      <Failed error={error || failed} />
      {[...(value?.substitutes ?? []), ...(value?.notices ?? [])].map((one) => (
        <p key={one} className="notice">
          {one}
        </p>
      ))}
      <Figures figures={facts} />
      {value && value.engines.length > 0 && (
        <Table label={say.engines} head={[say.engine, say.what, say.behind, say.state]}>
          {value.engines.map((one) => (
            <tr key={one.leg}>
              <th scope="row">{one.engine}</th>
              <td>{one.leg}</td>
              <td>{number.format(one.behind)}</td>
              <td>{one.problem || say.ok}</td>
            </tr>
          ))}
        </Table>
      )}
      <div>
        <button type="button" className="button" disabled={testing} onClick={() => void test()}>
          {testing ? say.testing : say.testModels}
        </button>
      </div>
      {models && (
        <Table label={say.models} head={[say.model, say.setting, say.time, say.state]}>
          {models.map((one) => (
            <tr key={one.setting}>
              <th scope="row">{one.name}</th>
              <td>
                <code>{one.setting}</code>
              </td>
              <td className="nowrap">{`${seconds.format(one.seconds)} s`}</td>
              <td>{one.problem || say.ok}</td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}

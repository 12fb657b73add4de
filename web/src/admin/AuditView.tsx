import { useCallback, useState } from "react";
import { told } from "../api/errors";
import type { AuditEntry } from "../api/types";
import { adminWords } from "../words/admin";
import { language } from "../words/shared";
import { Failed, Table } from "./parts";
import { admin } from "./requests";
import { useLoaded } from "./useLoaded";

const PAGE = 50;

/** Who did what, and when. */
export function AuditView() {
  const say = adminWords();
  const first = useLoaded(admin.audit as () => Promise<AuditEntry[]>);
  const [older, setOlder] = useState<AuditEntry[]>([]);
  const [failed, setFailed] = useState("");
  const all = [...(first.value ?? []), ...older];
  const last = all.at(-1);
  const more = useCallback(async () => {
    try {
      const found = await admin.audit(last?.number);
      setOlder((held) => [...held, ...found]);
    } catch (error) {
      setFailed(told(error));
    }
  }, [last]);
  const time = new Intl.DateTimeFormat(language(), { dateStyle: "medium", timeStyle: "short" });
  return (
    <>
      <Failed error={first.error || failed} />
      {first.value && all.length === 0 && <p className="quiet">{say.nothingDone}</p>}
      {all.length > 0 && (
        <Table label={say.tabs.log} head={[say.when, say.who, say.what, say.on]}>
          {all.map((one) => (
            <tr key={one.number}>
              <td className="nowrap">{time.format(one.at * 1000)}</td>
              <td>{one.who || say.onTheServer}</td>
              <td>{say.acts[one.act]}</td>
              <td>{one.what}</td>
            </tr>
          ))}
        </Table>
      )}
      {all.length >= PAGE && last && last.number > 1 && (
        <button type="button" className="button" onClick={() => void more()}>
          {say.older}
        </button>
      )}
    </>
  );
}

import { useEffect, useState } from "react";
import { api } from "../api/client";
import { told } from "../api/errors";
import { CopyButton } from "../chat/CopyButton";
import { words } from "../words/words";
import { useAnnounce } from "./Announcer";
import { hashOf } from "./route";

/** Days that a link can work; 0 stands for as long as the conversation is kept. */
const DAYS = [0, 7, 30];

/** Links to a conversation: make one, which is shown once, and take all back. */
export function ShareLinks({ session, onFailed }: { session: string; onFailed: (error: string) => void }) {
  const announce = useAnnounce();
  const [links, setLinks] = useState(0);
  const [days, setDays] = useState(0);
  const [made, setMade] = useState("");
  const say = words();
  useEffect(() => {
    api
      .links(session)
      .then((found) => setLinks(found.length))
      .catch(() => setLinks(0));
  }, [session]);
  const make = async () => {
    try {
      const secret = await api.share(session, days || null);
      setMade(new URL(hashOf({ view: "shared", secret }), location.href).href);
      setLinks((before) => before + 1);
      announce(say.linkMade);
    } catch (bad) {
      onFailed(told(bad));
    }
  };
  const takeBack = async () => {
    try {
      await api.takeBack(session);
      setMade("");
      setLinks(0);
      announce(say.linksTakenBack);
    } catch (bad) {
      onFailed(told(bad));
    }
  };
  return (
    <fieldset className="stack share">
      <legend>{say.share}</legend>
      <p className="quiet small">{say.shareHint}</p>
      {made && (
        <div className="row">
          <input
            className="grow"
            readOnly
            value={made}
            aria-label={say.link}
            onFocus={(event) => event.target.select()}
          />
          <CopyButton text={() => made} label={say.copyLink} />
        </div>
      )}
      <div className="row">
        <select aria-label={say.linkWorks} value={days} onChange={(event) => setDays(Number(event.target.value))}>
          {DAYS.map((one) => (
            <option key={one} value={one}>
              {one ? say.forDays(one) : say.asLongAsKept}
            </option>
          ))}
        </select>
        <button type="button" className="button small" onClick={() => void make()}>
          {say.makeLink}
        </button>
        {links > 0 && (
          <button type="button" className="button small" onClick={() => void takeBack()}>
            {say.takeBackLinks(links)}
          </button>
        )}
      </div>
    </fieldset>
  );
}

import { type FormEvent, useEffect, useRef, useState } from "react";
import { address, api } from "../api/client";
import { ApiError, told } from "../api/errors";
import { keys } from "../api/keys";
import type { SignInWays } from "../api/types";
import { words } from "../words/words";
import { LanguageSwitch } from "./LanguageSwitch";
import { ThemeSwitch } from "./ThemeSwitch";

interface Props {
  ways: SignInWays;
  onKey: () => void;
}

const FAILED = /^#\/sign-in\/([a-z_]+)$/;

/** How to sign in: the provider's button, or a name and a password; the key is behind a link. */
export function SignInView({ ways, onKey }: Props) {
  const say = words();
  const [failed, setFailed] = useState(() => reasonIn(location.hash));
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const place = FAILED.test(location.hash) ? "#/" : location.hash || "#/";

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    setFailed("");
    try {
      await api.signIn(String(given.get("name")), String(given.get("password")));
    } catch (error) {
      setFailed(error instanceof ApiError && error.status === 401 ? say.wrongPassword : told(error));
      return;
    }
    start(place);
  };

  return (
    <main className="sign-in" id="main">
      <div className="sign-in-box stack">
        <img src={`${import.meta.env.BASE_URL}icon.svg`} alt="" width="40" height="40" />
        <h1 ref={heading} tabIndex={-1}>
          {say.signInTo}
        </h1>
        {failed && (
          <p className="notice warn" role="alert">
            {failed}
          </p>
        )}
        {ways.provider !== null && (
          <a
            className="button primary"
            href={address(["sign-in", "provider"], { place }).href}
            onClick={() => keys.forget()}
          >
            {say.signInWith(ways.provider)}
          </a>
        )}
        {ways.passwords && (
          <form className="stack" onSubmit={(event) => void submit(event)}>
            <label className="field">
              <span>{say.userName}</span>
              <input name="name" autoComplete="username" autoCapitalize="none" spellCheck={false} required />
            </label>
            <label className="field">
              <span>{say.password}</span>
              <input name="password" type="password" autoComplete="current-password" required />
            </label>
            <button type="submit" className={ways.provider === null ? "button primary" : "button"}>
              {say.signIn}
            </button>
          </form>
        )}
        <button type="button" className="button bare small" onClick={onKey}>
          {say.useKeyInstead}
        </button>
        <div className="row">
          <ThemeSwitch />
          <LanguageSwitch />
        </div>
      </div>
    </main>
  );
}

/** Begin anew as somebody else: nothing of the one before stays in memory. */
function start(place: string): void {
  keys.forget();
  history.replaceState(null, "", place);
  location.reload();
}

/** Sign out here, and at the provider if it has an address for that. */
export async function signOut(): Promise<void> {
  const { address: there } = await api.signOut();
  if (there) location.assign(there);
  else start("#/");
}

function reasonIn(hash: string): string {
  const reason = FAILED.exec(hash)?.[1] ?? "";
  const texts: Record<string, string> = words().signInFailed;
  return reason ? (texts[reason] ?? texts.refused ?? "") : "";
}

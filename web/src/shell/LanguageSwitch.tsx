import { type Language, NAMES } from "../words/shared";
import { speak, useLanguage, words } from "../words/words";

/** The language of the page; answers are in that of the question. */
export function LanguageSwitch() {
  const language = useLanguage();
  return (
    <label className="language">
      <span className="visually-hidden">{words().language}</span>
      <select value={language} onChange={(event) => void speak(event.target.value as Language).catch(() => undefined)}>
        {Object.entries(NAMES).map(([one, name]) => (
          <option key={one} value={one} lang={one}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

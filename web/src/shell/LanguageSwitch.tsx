import type { Language } from "../words/shared";
import { LANGUAGES, NAMES, speak, useLanguage, words } from "../words/words";

/** The language of the page; answers are in that of the question. */
export function LanguageSwitch() {
  const language = useLanguage();
  return (
    <label className="language">
      <span className="visually-hidden">{words().language}</span>
      <select value={language} onChange={(event) => speak(event.target.value as Language)}>
        {Object.keys(LANGUAGES).map((one) => (
          <option key={one} value={one} lang={one}>
            {NAMES[one as Language]}
          </option>
        ))}
      </select>
    </label>
  );
}

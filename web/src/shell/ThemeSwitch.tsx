import { words } from "../words/words";
import { Icon } from "./Icon";
import { THEMES, useTheme } from "./theme";

export function ThemeSwitch() {
  const [theme, setTheme] = useTheme();
  const say = words();
  return (
    <fieldset className="theme">
      <legend className="visually-hidden">{say.colours}</legend>
      {THEMES.map((one) => (
        <label key={one} title={say.themes[one]}>
          <input type="radio" name="theme" checked={theme === one} onChange={() => setTheme(one)} />
          <Icon name={one} />
          <span className="visually-hidden">{say.themes[one]}</span>
        </label>
      ))}
    </fieldset>
  );
}

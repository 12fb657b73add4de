import { Icon } from "./Icon";
import { THEMES, useTheme } from "./theme";

const NAMES = { system: "System", light: "Light", dark: "Dark" } as const;

export function ThemeSwitch() {
  const [theme, setTheme] = useTheme();
  return (
    <fieldset className="theme">
      <legend className="visually-hidden">Colours</legend>
      {THEMES.map((one) => (
        <label key={one} title={NAMES[one]}>
          <input type="radio" name="theme" checked={theme === one} onChange={() => setTheme(one)} />
          <Icon name={one} />
          <span className="visually-hidden">{NAMES[one]}</span>
        </label>
      ))}
    </fieldset>
  );
}

import { useEffect, useState } from "react";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const NAME = "ragstone.theme";

function kept(): Theme {
  try {
    const theme = localStorage.getItem(NAME) as Theme;
    return THEMES.includes(theme) ? theme : "system";
  } catch {
    return "system";
  }
}

/** Apply the chosen theme before the first paint. */
export function applyTheme(theme: Theme = kept()): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(kept);
  useEffect(() => {
    applyTheme(theme);
    try {
      localStorage.setItem(NAME, theme);
    } catch {
      // Storage is disabled; the choice is not kept.
    }
  }, [theme]);
  return [theme, setTheme];
}

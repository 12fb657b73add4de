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

/** Put the chosen theme in force, before anything is drawn. */
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
      // Not kept, then.
    }
  }, [theme]);
  return [theme, setTheme];
}

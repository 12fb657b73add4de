import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App";
import { Announcer } from "./shell/Announcer";
import { applyTheme } from "./shell/theme";
import { speakFirst } from "./words/words";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/chat.css";
import "./styles/prose.css";
import "./styles/source.css";
import "./styles/library.css";
import "./styles/dialogs.css";
import "./styles/print.css";

applyTheme();
const draw = () =>
  createRoot(document.getElementById("root") as HTMLElement).render(
    <StrictMode>
      <Announcer>
        <App />
      </Announcer>
    </StrictMode>,
  );
speakFirst().then(draw, draw);

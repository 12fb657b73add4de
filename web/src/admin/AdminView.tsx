import type { ComponentType } from "react";
import { AuditView } from "./AuditView";
import { CollectionsView } from "./CollectionsView";
import { JobsView } from "./JobsView";
import { KeysView } from "./KeysView";
import { LearningView } from "./LearningView";
import { LiveSettingsView } from "./LiveSettingsView";
import { ModelsView } from "./ModelsView";
import { OverviewView } from "./OverviewView";
import { PeopleView } from "./PeopleView";
import { SystemView } from "./SystemView";
import "./admin.css";
import { adminWords } from "../words/admin";

const VIEWS = {
  overview: OverviewView,
  people: PeopleView,
  keys: KeysView,
  jobs: JobsView,
  collections: CollectionsView,
  models: ModelsView,
  learning: LearningView,
  settings: LiveSettingsView,
  system: SystemView,
  log: AuditView,
} as const satisfies Record<string, ComponentType>;
type Tab = keyof typeof VIEWS;
const TABS = Object.keys(VIEWS) as Tab[];

/** What administrators see and do; the tab is part of the address. */
export default function AdminView({ tab }: { tab: string }) {
  const say = adminWords();
  const shown = TABS.find((one) => one === tab) ?? "overview";
  const View = VIEWS[shown];
  return (
    <div className="scroll">
      <div className="shelf admin">
        <h1>{say.administration}</h1>
        <nav className="tabs" aria-label={say.administration}>
          {TABS.map((one) => (
            <a
              key={one}
              href={one === "overview" ? "#/admin" : `#/admin/${one}`}
              aria-current={one === shown ? "page" : undefined}
            >
              {say.tabs[one]}
            </a>
          ))}
        </nav>
        <View />
      </div>
    </div>
  );
}

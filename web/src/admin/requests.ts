import { address, json, sent } from "../api/client";
import type {
  Asked,
  AuditEntry,
  Job,
  LanguageModels,
  Learned,
  LiveSetting,
  MadeKey,
  ModelTest,
  ModelTried,
  NewCollection,
  Person,
  Policies,
  RunningServer,
  State,
  Stats,
  StoredKey,
  SyncedSource,
} from "../api/types";

/** What somebody may do and read; no groups means all documents. */
export interface Rights {
  scopes: ("read" | "write" | "tokens" | "admin")[];
  groups: string[] | null;
}

/** The requests of administrators. */
export const admin = {
  keys: async () => (await json<{ keys: StoredKey[] }>(address(["admin", "keys"]))).keys,
  makeKey: (name: string, rights: Rights) =>
    json<MadeKey>(address(["admin", "keys"]), { method: "POST", body: { name, ...rights } }),
  revokeKey: (id: string) => sent(address(["admin", "keys", id]), { method: "DELETE" }),

  people: async () => (await json<{ people: Person[] }>(address(["admin", "people"]))).people,
  addPerson: (name: string, password: string, rights: Rights) =>
    sent(address(["admin", "people"]), { method: "POST", body: { name, password, ...rights } }),
  changePerson: (name: string, password: string, rights: Rights) =>
    sent(address(["admin", "people", name]), { method: "PATCH", body: { ...rights, password: password || null } }),
  removePerson: (name: string) => sent(address(["admin", "people", name]), { method: "DELETE" }),
  signPersonOut: (name: string) => sent(address(["admin", "sessions", name]), { method: "DELETE" }),

  audit: async (before?: number) =>
    (await json<{ entries: AuditEntry[] }>(address(["admin", "audit"], { before }))).entries,

  jobs: async () => (await json<{ jobs: Job[] }>(address(["jobs"]))).jobs,
  cancelJob: (id: string) => sent(address(["admin", "jobs", id]), { method: "DELETE" }),
  sync: (source: string) => sent(address(["sync"]), { method: "POST", body: { sources: [source] } }),

  sources: async () => (await json<{ sources: SyncedSource[] }>(address(["admin", "sources"]))).sources,
  addSource: (source: string) => sent(address(["admin", "sources"]), { method: "POST", body: { source } }),
  removeSource: (source: string) => sent(address(["admin", "sources"], { source }), { method: "DELETE" }),
  schedule: (source: string, every: number | null, paused: boolean) =>
    sent(address(["admin", "sources", "schedule"]), {
      method: "POST",
      body: { source, every_seconds: every, paused },
    }),

  putCollection: (collection: NewCollection) =>
    sent(address(["admin", "collections"]), { method: "POST", body: collection }),
  removeCollection: (name: string) => sent(address(["admin", "collections", name]), { method: "DELETE" }),

  learned: async (): Promise<{ learned: Learned; policies: Policies }> => ({
    learned: await json<Learned>(address(["policies", "explain"])),
    policies: await json<Policies>(address(["policies"])),
  }),
  settings: async () => (await json<{ settings: LiveSetting[] }>(address(["admin", "settings"]))).settings,
  changeSetting: (path: string, value: string | number | boolean | null) =>
    sent(address(["admin", "settings"]), { method: "POST", body: { path, value } }),

  startTrial: (choice: string, value: number | boolean, why: string) =>
    sent(address(["admin", "learning", "trial"]), { method: "POST", body: { choices: { [choice]: value }, why } }),
  promote: (version: number) => sent(address(["admin", "learning", "promote"]), { method: "POST", body: { version } }),
  revert: (version: number | null) =>
    sent(address(["admin", "learning", "revert"]), { method: "POST", body: { version } }),

  models: () => json<LanguageModels>(address(["admin", "models"])),
  runningModels: async () =>
    (await json<{ servers: RunningServer[] }>(address(["admin", "models", "running"]))).servers,
  chooseModel: (name: string | null) =>
    sent(address(["admin", "models", "choose"]), { method: "POST", body: { name } }),
  tryModel: (name: string) => json<ModelTried>(address(["admin", "models", "try"]), { method: "POST", body: { name } }),
  addModelServer: (name: string, where: string, key: string) =>
    sent(address(["admin", "models", "servers"]), {
      method: "POST",
      body: { name, address: where, api_key: key || null },
    }),
  removeModelServer: (name: string) => sent(address(["admin", "models", "servers", name]), { method: "DELETE" }),

  testModels: async () =>
    (await json<{ models: ModelTest[] }>(address(["admin", "models", "test"]), { method: "POST" })).models,

  state: () => json<State>(address(["status"])),
  stats: (days: number) => json<Stats>(address(["stats"], { days })),
  asked: (days: number) => json<Asked>(address(["admin", "asked"], { days })),
};

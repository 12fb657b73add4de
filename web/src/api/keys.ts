const NAME = "ragstone.key";

let held = "";

/** The API key: in memory, and in this tab's storage if the user wants. Never in a URL, never on disk. */
export const keys = {
  get(): string {
    if (!held) held = stored((storage) => storage.getItem(NAME)) ?? "";
    return held;
  },
  set(key: string, keep: boolean): void {
    held = key.trim();
    stored((storage) => (keep && held ? storage.setItem(NAME, held) : storage.removeItem(NAME)));
  },
  forget(): void {
    keys.set("", false);
  },
};

/** Storage may be disabled; then nothing is kept. */
function stored<T>(use: (storage: Storage) => T): T | null {
  try {
    return use(sessionStorage);
  } catch {
    return null;
  }
}

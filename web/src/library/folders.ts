/** A file to upload, under the name that it gets: that of its folders too, because files of one name replace each other. */
export interface Named {
  name: string;
  file: File;
}

/** Folders that programs fill with copies of other people's files. */
const LEFT_OUT = new Set(["node_modules", "__pycache__"]);
const MOST = 2000;

/** Return a name for a path within a folder: `a/b.md` becomes `a - b.md`. */
export const flat = (path: string): string => path.split("/").filter(Boolean).join(" - ");

/** Return whether a path is left out: hidden files and folders, and installed code. */
export const isLeftOut = (path: string): boolean =>
  path.split("/").some((part) => part.startsWith(".") || LEFT_OUT.has(part));

/** Return chosen files; those of a chosen folder know their path in it. */
export const chosen = (files: Iterable<File>): Named[] =>
  [...files]
    .map((file) => ({ path: file.webkitRelativePath || file.name, file }))
    .filter(({ path, file }) => path === file.name || !isLeftOut(path))
    .slice(0, MOST)
    .map(({ path, file }) => ({ name: flat(path), file }));

/** Return dropped files, and all files in dropped folders. Call it while the drop is handled: its items do not last. */
export async function dropped(items: DataTransferItemList, files: FileList): Promise<Named[]> {
  const entries = [...items].map((item) => item.webkitGetAsEntry?.() ?? null).filter((one) => one !== null);
  if (!entries.some((one) => one.isDirectory)) return chosen(files);
  const out: Named[] = [];
  for (const entry of entries) await walk(entry, out);
  return out;
}

async function walk(entry: FileSystemEntry, out: Named[]): Promise<void> {
  if (out.length >= MOST || isLeftOut(entry.name)) return;
  if (entry.isFile) {
    const file = await new Promise<File>((done, failed) => (entry as FileSystemFileEntry).file(done, failed));
    out.push({ name: flat(entry.fullPath), file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    // A reader gives up to a hundred entries at a time, and none at the end.
    const some = await new Promise<FileSystemEntry[]>((done, failed) => reader.readEntries(done, failed));
    if (!some.length) return;
    for (const one of some) await walk(one, out);
  }
}

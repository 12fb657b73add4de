import { expect, it } from "vitest";
import { chosen, dropped, flat, isLeftOut } from "./folders";

const file = (path: string) => {
  const made = new File(["x"], path.split("/").at(-1) as string);
  Object.defineProperty(made, "webkitRelativePath", { value: path.includes("/") ? path : "" });
  return made;
};
const asFile = (path: string) => ({
  isFile: true,
  isDirectory: false,
  name: path.split("/").at(-1) as string,
  fullPath: `/${path}`,
  file: (done: (file: File) => void) => done(file(path.split("/").at(-1) as string)),
});
const asFolder = (path: string, ...inside: unknown[]) => {
  const parts = [inside.slice(0, 1), inside.slice(1), []];
  return {
    isFile: false,
    isDirectory: true,
    name: path.split("/").at(-1) as string,
    fullPath: `/${path}`,
    createReader: () => ({ readEntries: (done: (some: unknown) => void) => done(parts.shift() ?? []) }),
  };
};
const transfer = (...entries: unknown[]) =>
  entries.map((entry) => ({ webkitGetAsEntry: () => entry })) as unknown as DataTransferItemList;

it("names files of folders by their paths, so that none replaces another", () => {
  const names = chosen([file("a/readme.md"), file("a/b/readme.md"), file("a/.git/x"), file("one.md")]);
  expect(names.map((one) => one.name)).toEqual(["a - readme.md", "a - b - readme.md", "one.md"]);
  expect(flat("/a//b.md")).toBe("a - b.md");
  expect(isLeftOut("a/node_modules/b.js")).toBe(true);
});

it("walks dropped folders to their end", async () => {
  const tree = asFolder(
    "a",
    asFile("a/1.md"),
    asFolder("a/b", asFile("a/b/2.md")),
    asFile("a/.hidden"),
    asFile("a/3.md"),
  );
  const names = await dropped(transfer(tree, asFile("4.md")), [] as unknown as FileList);
  expect(names.map((one) => one.name)).toEqual(["a - 1.md", "a - b - 2.md", "a - 3.md", "4.md"]);
});

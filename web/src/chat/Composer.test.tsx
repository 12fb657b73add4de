// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { createRef, useState } from "react";
import { afterEach, expect, it, vi } from "vitest";
import type { Scoped } from "../filters/scope";
import { Composer } from "./Composer";

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

function show(underWay = false, among: readonly Scoped[] = [], models: readonly string[] = [], canShow = false) {
  const asked: string[][] = [];
  const box = createRef<HTMLTextAreaElement>();
  function Asking() {
    const [question, setQuestion] = useState("");
    const [scope, setScope] = useState(among);
    const [model, setModel] = useState("");
    return (
      <Composer
        box={box}
        underWay={underWay}
        before="The one before?"
        attaching={null}
        canShow={canShow}
        collections={[]}
        collection={null}
        onCollection={() => undefined}
        scope={scope}
        onScope={setScope}
        effort="quick"
        onEffort={(effort) => asked.push(["effort", effort])}
        models={models}
        model={model}
        onModel={(chosen) => {
          asked.push(["model", chosen]);
          setModel(chosen);
        }}
        question={question}
        onQuestion={setQuestion}
        onAsk={(question, where, picture) => asked.push([question, where, ...(picture ? [picture] : [])])}
        onStop={() => asked.push(["stop"])}
      />
    );
  }
  render(<Asking />);
  return { asked, box: screen.getByLabelText("Question") as HTMLTextAreaElement };
}

it("asks on Enter only", async () => {
  const { asked, box } = show();
  await userEvent.type(box, "  {Enter}a{Shift>}{Enter}{/Shift}b {Enter}");
  expect(asked).toEqual([["a\nb", ""]]);
  expect(box.value).toBe("");
});

it("recalls the previous question", async () => {
  const { box } = show();
  await userEvent.type(box, "{ArrowUp}");
  expect(box.value).toBe("The one before?");
});

it("only stops while an answer is being written", async () => {
  const { asked, box } = show(true);
  await userEvent.type(box, "a{Enter}");
  await userEvent.click(screen.getByRole("button", { name: "Stop" }));
  expect(asked).toEqual([["stop"]]);
  expect(box.value).toBe("a");
});

it("asks only the chosen documents, until they are removed", async () => {
  const { asked, box } = show(false, [{ id: "a/mill.md", title: "Mill" }]);
  await userEvent.type(box, "a{Enter}");
  expect(screen.getByText("Only in: Mill")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Ask all documents again, not only Mill" }));
  await userEvent.type(box, "b{Enter}");
  expect(asked).toEqual([
    ["a", 'id = "a/mill.md"'],
    ["b", ""],
  ]);
});

it("offers the models that may be chosen", async () => {
  const { asked } = show(false, [], ["ollama:a:1b", "extractive"]);
  const choice = screen.getByRole("combobox", { name: "Language model" });
  expect([...choice.children].map((one) => one.textContent)).toEqual([
    "Default model",
    "ollama:a:1b",
    "no model: quoted from the documents",
  ]);
  await userEvent.selectOptions(choice, "ollama:a:1b");
  expect(asked).toEqual([["model", "ollama:a:1b"]]);
  cleanup();
  show();
  expect(screen.queryByRole("combobox", { name: "Language model" })).toBeNull();
});

/** Let the browser draw pictures, except those whose name begins with "no". */
function drawing() {
  vi.stubGlobal("createImageBitmap", (file: File) =>
    file.name.startsWith("no") ? Promise.reject(new Error()) : Promise.resolve({ width: 3200, height: 1600 }),
  );
  const pen = { fillRect: vi.fn(), drawImage: vi.fn(), fillStyle: "" };
  vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockReturnValue(pen as unknown as RenderingContext);
  vi.spyOn(HTMLCanvasElement.prototype, "toDataURL").mockImplementation(function (this: HTMLCanvasElement) {
    return `data:${this.width}x${this.height}`;
  });
}

it("asks about a picture once, reduced", async () => {
  drawing();
  const { asked, box } = show(false, [], [], true);
  const input = document.querySelector<HTMLInputElement>("input[type=file]");
  await userEvent.upload(input as HTMLInputElement, new File(["x"], "harbour.png", { type: "image/png" }));
  expect(await screen.findByText("Picture: harbour.png")).toBeTruthy();
  await userEvent.type(box, "Where is it?{Enter}");
  await userEvent.type(box, "And now?{Enter}");
  expect(asked).toEqual([
    ["Where is it?", "", "data:1600x800"],
    ["And now?", ""],
  ]);
  expect(screen.queryByText("Picture: harbour.png")).toBeNull();
});

it("takes a picture that is pasted, and lets it go", async () => {
  drawing();
  const { asked, box } = show(false, [], [], true);
  await userEvent.click(box);
  const files = [new File(["x"], "image.png", { type: "image/png" })];
  fireEvent.paste(box, { clipboardData: { files } });
  await userEvent.click(await screen.findByRole("button", { name: "Ask without the picture image.png" }));
  await userEvent.type(box, "a{Enter}");
  expect(asked).toEqual([["a", ""]]);
});

it("says that a file is no picture", async () => {
  drawing();
  show(false, [], [], true);
  const input = document.querySelector<HTMLInputElement>("input[type=file]");
  await userEvent.upload(input as HTMLInputElement, new File(["x"], "notes.png", { type: "image/png" }));
  expect(await screen.findByText("notes.png is no picture that this browser can read.")).toBeTruthy();
});

it("takes no picture without a model that describes it", () => {
  show();
  expect(screen.queryByRole("button", { name: "Ask about a picture" })).toBeNull();
});

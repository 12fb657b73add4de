// @vitest-environment happy-dom
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { createRef, useState } from "react";
import { afterEach, expect, it } from "vitest";
import type { Scoped } from "../filters/scope";
import { Composer } from "./Composer";

afterEach(cleanup);

function show(underWay = false, among: readonly Scoped[] = [], models: readonly string[] = []) {
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
        onAsk={(question, where) => asked.push([question, where])}
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

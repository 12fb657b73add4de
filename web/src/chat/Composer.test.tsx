// @vitest-environment happy-dom
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { createRef } from "react";
import { afterEach, expect, it } from "vitest";
import { Composer } from "./Composer";

afterEach(cleanup);

function show(underWay = false) {
  const asked: string[][] = [];
  render(
    <Composer
      box={createRef()}
      underWay={underWay}
      before="The one before?"
      onAsk={(question, where) => asked.push([question, where])}
      onStop={() => asked.push(["stop"])}
    />,
  );
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

// @vitest-environment happy-dom
import { act, cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";
import { api } from "../api/client";
import type { Original } from "../api/types";
import { cited, hit } from "../chat/samples";
import { ofCitation } from "../chat/target";
import { SourcePanel } from "./SourcePanel";

afterEach(cleanup);
const page = { document_id: "web:1", chunk_id: "web:1", url: "https://stone.example/a" };

it("shows the passage and host of a web page", () => {
  const passage = hit("🪨 Before. The words. After.", { ...page, start: 100 });
  const target = ofCitation(cited(1, { ...page, start: 110, end: 120, quote: "The words." }), [passage]);
  render(<SourcePanel targets={[target]} at={0} onMove={() => undefined} onClose={() => undefined} />);
  expect(document.querySelector("mark")?.textContent).toBe("The words.");
  const link = screen.getByRole("link") as HTMLAnchorElement;
  expect([link.href, link.rel, link.textContent]).toEqual([
    "https://stone.example/a",
    "noreferrer",
    "stone.example  (opens a new tab)",
  ]);
});

it("shows the quote of a lost page, with navigation", async () => {
  const targets = [1, 2].map((marker) => ofCitation(cited(marker, { ...page, url: "javascript:alert(1)" }), []));
  const moved: number[] = [];
  render(<SourcePanel targets={targets} at={1} onMove={(at) => moved.push(at)} onClose={() => moved.push(-1)} />);
  expect(document.querySelector("mark")?.textContent).toBe("Stone");
  expect(screen.queryByRole("link")).toBeNull();
  expect((screen.getByRole("button", { name: "Next citation" }) as HTMLButtonElement).disabled).toBe(true);
  await userEvent.click(screen.getByRole("button", { name: "Previous citation" }));
  await userEvent.click(screen.getByRole("button", { name: "Close the source" }));
  expect(moved).toEqual([0, -1]);
});

it("keeps the view that was chosen while the page was still awaited", async () => {
  let arrive: (found: Original) => void = () => undefined;
  vi.spyOn(api, "places").mockReturnValue(
    new Promise((resolve) => {
      arrive = resolve;
    }),
  );
  vi.spyOn(api, "document").mockReturnValue(new Promise(() => undefined));
  const target = ofCitation(cited(1, {}), []);
  render(<SourcePanel targets={[target]} at={0} onMove={() => undefined} onClose={() => undefined} />);
  const text = screen.getByRole("radio", { name: "Text" }) as HTMLInputElement;
  await userEvent.click(text);
  await act(async () => arrive({ pages: 2, is_row: false, state: "same" } as Original));
  expect(text.checked).toBe(true);
});

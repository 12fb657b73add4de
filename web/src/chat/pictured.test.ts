import { expect, it } from "vitest";
import { pictured } from "./pictured";

it("tells the description of a picture from what was typed", () => {
  const kept = "What is this?\n\n(The question came with a picture. ollama:llava describes it: A valve (open).)";
  expect(pictured(kept)).toEqual({ typed: "What is this?", model: "ollama:llava", description: "A valve (open)." });
  expect(pictured("What is (this)?")).toEqual({ typed: "What is (this)?", model: "", description: "" });
});

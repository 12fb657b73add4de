// @vitest-environment happy-dom
import { expect, it } from "vitest";
import { legibleOn, settingsOf } from "./settings";

function script(attributes: Record<string, string>): HTMLScriptElement {
  const made = document.createElement("script");
  made.src = "https://docs.example/kb/widget.js";
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(`data-${name}`, value);
  return made;
}

it("reads the settings of a script tag", () => {
  const told: string[] = [];
  const found = settingsOf(script({ theme: "dark", accent: "#ffd400", language: "lt", tokens: "/token" }), (one) =>
    told.push(one),
  );
  expect(found.server.href).toBe("https://docs.example/kb/");
  expect(found.tokens?.href).toBe(new URL("/token", document.baseURI).href);
  expect(found).toMatchObject({ theme: "dark", language: "lt", side: "right", title: "" });
  expect(found.accent).toEqual({ ground: "#ffd400", text: "#000000" });
  expect(told).toEqual([]);
});

it("tells what it cannot understand", () => {
  const told: string[] = [];
  const wrong = { theme: "pink", accent: "red;position:fixed", side: "top", tokens: "javascript:alert(1)" };
  const found = settingsOf(script(wrong), (one) => told.push(one));
  expect(found).toMatchObject({ theme: "auto", accent: null, side: "right", tokens: null });
  expect(told.map((one) => one.split(" ")[0])).toEqual(["data-accent", "data-tokens", "data-theme", "data-side"]);
});

it("writes legibly on every colour", () => {
  const light = (colour: string) => {
    const [red, green, blue] = [1, 3, 5].map((at) => {
      const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    }) as [number, number, number];
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  for (let number = 0; number < 4096; number++) {
    const colour = `#${[...number.toString(16).padStart(3, "0")].map((one) => one + one).join("")}`;
    const [low, high] = [light(colour), light(legibleOn(colour))].sort((a, b) => a - b) as [number, number];
    expect((high + 0.05) / (low + 0.05)).toBeGreaterThanOrEqual(4.5);
  }
});

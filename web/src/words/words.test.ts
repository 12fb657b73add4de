import { expect, it } from "vitest";
import * as de from "./de";
import * as en from "./en";
import * as lt from "./lt";
import * as ms from "./ms";
import { preferred } from "./shared";

const LANGUAGES = {
  en: { ...en.shared, ...en.page },
  de: { ...de.shared, ...de.page },
  lt: { ...lt.shared, ...lt.page },
  ms: { ...ms.shared, ...ms.page },
};

type Texts = { [name: string]: unknown };

/** Numbers whose forms differ in one of the languages. */
const NUMBERS = [0, 1, 2, 5, 10, 11, 21, 101, 999, 1500];
/** Texts that are the same word in more than one language. */
const ALIKE = new Set(["filter", "sources", "original", "asText", "usage", "title"]);

function* flat(texts: Texts, above = ""): Generator<[string, unknown]> {
  for (const [name, text] of Object.entries(texts)) {
    if (typeof text === "object" && text !== null) yield* flat(text as Texts, `${above}${name}.`);
    else yield [`${above}${name}`, text];
  }
}

const said = (text: unknown): string[] => {
  if (typeof text !== "function") return [String(text)];
  const given = (number: number) => Array.from({ length: Math.max(1, text.length) }, () => number);
  return NUMBERS.map((number) => {
    try {
      return text(...given(number));
    } catch {
      return text(["a", "b"]); // a list of names
    }
  });
};

it.each(Object.entries(LANGUAGES))("%s has every text of the page", (_, texts) => {
  const wanted = [...flat(LANGUAGES.en)];
  const found = new Map(flat(texts));
  expect([...found.keys()].sort()).toEqual(wanted.map(([name]) => name).sort());
  for (const [name, text] of wanted) {
    expect(typeof found.get(name), name).toBe(typeof text);
    for (const one of said(found.get(name))) {
      expect(one.trim(), name).not.toBe("");
      expect(one, name).not.toMatch(/undefined|NaN|\[object/);
    }
  }
});

it.each(["de", "lt", "ms"] as const)("%s is translated", (language) => {
  const english = new Map(flat(LANGUAGES.en));
  const same = [...flat(LANGUAGES[language])].filter(
    ([name, text]) => typeof text === "string" && text === english.get(name) && !ALIKE.has(name),
  );
  expect(same.map(([name]) => name).filter((name) => !/^(themes|menu|filterHint)/.test(name))).toEqual([]);
});

it("counts as each language does", () => {
  expect([1, 2, 10, 21].map(LANGUAGES.lt.documentCount)).toEqual([
    "1 dokumentas",
    "2 dokumentai",
    "10 dokumentų",
    "21 dokumentas",
  ]);
  expect([1, 2].map(LANGUAGES.de.documentCount)).toEqual(["1 Dokument", "2 Dokumente"]);
  expect(LANGUAGES.en.documentCount(1200)).toBe("1,200 documents");
});

it("speaks the first language of the browser that it knows", () => {
  expect(preferred(["fr-FR", "lt-LT", "de"])).toBe("lt");
  expect(preferred(["DE-at"])).toBe("de");
  expect(preferred(["constructor", "fr"])).toBe("en");
  expect(preferred([])).toBe("en");
});

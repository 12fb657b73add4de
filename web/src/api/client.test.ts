// @vitest-environment happy-dom
import { expect, it } from "vitest";
import { address, authorization } from "./client";
import { keys } from "./keys";

it("encodes each part as one segment", () => {
  const url = address(["documents", "/data/a b#c?d/é.md"], { q: "", limit: 5, after: undefined });
  expect(url.pathname).toBe("/documents/%2Fdata%2Fa%20b%23c%3Fd%2F%C3%A9.md");
  expect(url.search).toBe("?limit=5");
});

it("sends the key in a header and keeps it in this tab", () => {
  keys.set(" rgs_1 ", true);
  expect(authorization()).toEqual({ Authorization: "Bearer rgs_1" });
  expect(sessionStorage.getItem("ragstone.key")).toBe("rgs_1");
  expect(localStorage.length).toBe(0);
  expect(address(["me"]).href).not.toContain("rgs_");
  keys.forget();
  expect(authorization()).toEqual({ "X-Ragstone": "page" });
  expect(sessionStorage.length).toBe(0);
});

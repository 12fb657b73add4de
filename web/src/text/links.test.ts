import { expect, it } from "vitest";
import { safeLink } from "./links";

it("offers web links with their hosts", () => {
  expect(safeLink("https://bücher.example/a?b#c")).toEqual({
    href: "https://xn--bcher-kva.example/a?b#c",
    host: "xn--bcher-kva.example",
  });
});

it.each([
  "javascript:alert(1)",
  "data:text/html,x",
  "file:///etc/passwd",
  "//host/x",
  "/x",
  "",
  "https://",
  "ftp://a/b",
  " https://a",
  "https://user:pw@a.example/",
  "jAvAsCrIpT://a/%0aalert(1)",
])("offers no other: %s", (url) => expect(safeLink(url)).toBeNull());

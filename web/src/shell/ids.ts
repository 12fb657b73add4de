/** A name nobody else has. `randomUUID` is missing where the page comes over plain HTTP from another machine. */
export function randomId(): string {
  return [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Return a unique id. `randomUUID` is missing on pages served over plain HTTP by another machine. */
export function randomId(): string {
  return [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

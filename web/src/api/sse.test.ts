import { describe, expect, it } from "vitest";
import { EventParser, eventsOf, type ServerEvent } from "./sse";

const parsed = (...pieces: string[]): ServerEvent[] => {
  const parser = new EventParser();
  return [...pieces.flatMap((piece) => parser.push(piece)), ...parser.end()];
};
const TWO =
  'event: text\r\ndata: {"text":"a"}\r\n\r\n: waiting\r\n\r\nevent: answer\rdata: 1\rdata:  2\r\rid: 7\ndata\n\n';
const TOLD = [
  { event: "text", data: '{"text":"a"}' },
  { event: "answer", data: "1\n 2" },
  { event: "message", data: "" },
];

describe("server-sent events", () => {
  it("are separated by blank lines with any line ending", () => expect(parsed(TWO)).toEqual(TOLD));

  it("do not depend on how the text is chunked", () => {
    for (let at = 0; at <= TWO.length; at++) expect(parsed(TWO.slice(0, at), TWO.slice(at))).toEqual(TOLD);
    expect(parsed(...TWO)).toEqual(TOLD);
  });

  it("are dropped without a final blank line", () => {
    expect(parsed("data: whole\n\ndata: half\n")).toEqual([{ event: "message", data: "whole" }]);
    expect(parsed("data: whole\r\r")).toEqual([{ event: "message", data: "whole" }]);
  });

  it("may begin with a byte order mark", () => expect(parsed("\uFEFFdata: x\n\n")).toHaveLength(1));

  it("have characters split between chunks", async () => {
    const bytes = new TextEncoder().encode("data: 🪨ė\n\n");
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(new Uint8Array([byte]));
        controller.close();
      },
    });
    const out: ServerEvent[] = [];
    for await (const event of eventsOf(body)) out.push(event);
    expect(out).toEqual([{ event: "message", data: "🪨ė" }]);
  });
});

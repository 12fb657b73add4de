import { expect, it } from "vitest";
import { ApiError, errorFrom, told } from "./errors";
import { answerEvents } from "./query";

const body = (text: string) => new Response(text).body as ReadableStream<Uint8Array>;
const types = async (text: string) => {
  const out: string[] = [];
  for await (const event of answerEvents(body(text))) out.push(event.type);
  return out;
};

it("yields all events of an answer", async () => {
  const text =
    'event: text\ndata: {"text":"a"}\n\nevent: news\ndata: {}\n\nevent: answer\ndata: {}\n\nevent: text\ndata: {}\n\n';
  expect(await types(text)).toEqual(["text", "news", "answer"]);
});

it("throws the final error or reports an interruption", async () => {
  const failed = 'event: error\ndata: {"error":{"code":"timeout","message":"it took too long"}}\n\n';
  await expect(types(failed)).rejects.toThrow("it took too long");
  await expect(types('event: text\ndata: {"text":"a"}\n\n')).rejects.toThrow("was interrupted");
});

it("shows the server's own error messages", () => {
  const error = errorFrom(429, '{"error":{"code":"too_many","message":"Too many questions."}}', "7");
  expect(told(error)).toBe("Too many questions. Try again in 7 s.");
  expect(told(errorFrom(502, "<html>", null))).toContain("502");
  expect(told(new TypeError("Failed to fetch"))).toContain("cannot be reached");
  expect(error).toBeInstanceOf(ApiError);
});

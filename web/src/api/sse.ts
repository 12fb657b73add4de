/** A server-sent event: its name and its data as text. */
export interface ServerEvent {
  event: string;
  data: string;
}

/**
 * Takes server-sent events apart as the standard says, however the text is cut into pieces: lines end with LF, CR or
 * both, lines of data are joined, comments are passed over, an event that no blank line ends is dropped.
 */
export class EventParser {
  private buffer = "";
  private event = "";
  private data: string[] = [];
  private begun = false;

  /** Return the events that a chunk completes. */
  push(piece: string): ServerEvent[] {
    this.buffer += piece;
    if (!this.begun && this.buffer) {
      this.buffer = this.buffer.replace(/^\uFEFF/, "");
      this.begun = true;
    }
    const out: ServerEvent[] = [];
    for (let end = this.lineEnd(); end; end = this.lineEnd()) {
      const line = this.buffer.slice(0, end.at);
      this.buffer = this.buffer.slice(end.next);
      const whole = this.take(line);
      if (whole) out.push(whole);
    }
    return out;
  }

  /** End the stream: a held-back CR was the end of its line. */
  end(): ServerEvent[] {
    return this.buffer.endsWith("\r") ? this.push("\n") : [];
  }

  private lineEnd(): { at: number; next: number } | null {
    const at = this.buffer.search(/[\r\n]/);
    if (at < 0) return null;
    if (this.buffer[at] === "\n") return { at, next: at + 1 };
    // A CR at the very end may be the first half of CR LF.
    if (at + 1 === this.buffer.length) return null;
    return { at, next: this.buffer[at + 1] === "\n" ? at + 2 : at + 1 };
  }

  private take(line: string): ServerEvent | null {
    if (line === "") {
      const whole = this.data.length ? { event: this.event || "message", data: this.data.join("\n") } : null;
      this.event = "";
      this.data = [];
      return whole;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.event = value;
    if (field === "data") this.data.push(value);
    return null;
  }
}

/** Yield the events of a response body. */
export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const parser = new EventParser();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      yield* parser.push(decoder.decode(read.value, { stream: true }));
    }
    yield* parser.push(decoder.decode());
    yield* parser.end();
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

import { shared } from "../words/shared";
/** An error of the API, with its own message. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** Seconds until a retry makes sense, if the API says so. */
    readonly retryAfter: number | null = null,
  ) {
    super(message);
  }
}

/** Return the error in a response, or one made from its status. */
export function errorFrom(status: number, body: string, retryAfter: string | null): ApiError {
  const seconds = retryAfter && /^\d+$/.test(retryAfter) ? Number(retryAfter) : null;
  try {
    const { error } = JSON.parse(body) as { error?: { code?: string; message?: string } };
    if (error?.message) return new ApiError(status, error.code ?? "", error.message, seconds);
  } catch {
    // Not JSON: a proxy answered, not the API.
  }
  return new ApiError(status, "", `the server answered with status ${status}`, seconds);
}

/** Return any error as a sentence for people. */
export function told(error: unknown): string {
  if (error instanceof ApiError) {
    return error.retryAfter === null ? error.message : shared().retryIn(error.message, error.retryAfter);
  }
  if (error instanceof TypeError) return shared().unreachable;
  return error instanceof Error ? error.message : String(error);
}

export const isAbort = (error: unknown): boolean => error instanceof DOMException && error.name === "AbortError";

import { errorFrom } from "./errors";
import type { Job } from "./types";

/** Upload a file under a name, for the groups that may read it if any are given, and return its job. Uses XMLHttpRequest, because `fetch` does not report upload progress. */
export function upload(
  url: URL,
  { file, name, groups }: { file: File; name: string; groups: readonly string[] | null },
  headers: Record<string, string>,
  onProgress: (share: number) => void,
  signal: AbortSignal,
): Promise<Job> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => {
      if (event.lengthComputable) onProgress(event.loaded / event.total);
    };
    request.onload = () => {
      if (request.status < 300) resolve(JSON.parse(request.responseText) as Job);
      else reject(errorFrom(request.status, request.responseText, request.getResponseHeader("Retry-After")));
    };
    request.onerror = () => reject(new TypeError("the upload failed"));
    request.onabort = () => reject(new DOMException("stopped", "AbortError"));
    signal.addEventListener("abort", () => request.abort(), { once: true });
    const form = new FormData();
    form.append("files", file, name);
    for (const group of groups ?? []) form.append("groups", group);
    request.send(form);
  });
}

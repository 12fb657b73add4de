/** A question that came with a picture, as the server keeps it: what was typed, and a model's words for the picture. */
export interface Pictured {
  typed: string;
  /** The model that described the picture; empty if there was none. */
  model: string;
  description: string;
}

/** What `engine/pictured.py` writes below a question. */
const PICTURED = /\s+\(The question came with a picture\. (\S+) describes it: ([\s\S]*)\)$/;

/** Return what was typed of a question, and the description of its picture if it came with one. */
export function pictured(question: string): Pictured {
  const [, model = "", description = ""] = PICTURED.exec(question) ?? [];
  return { typed: question.replace(PICTURED, ""), model, description };
}

/** A formula with its delimiters. */
const DELIMITED = /^(?:\$\$([\s\S]+)\$\$|\$([\s\S]+)\$|\\\(([\s\S]+)\\\)|\\\[([\s\S]+)\\\])$/;
/** What an amount of money between dollar signs has not. */
const MATHEMATICAL = /[\\^_={}<>]|^\s*-?[A-Za-z]\w?'?\s*$|[A-Za-z)]\s*[-+*/]|[-+*/]\s*[A-Za-z(]/;

export interface Formula {
  tex: string;
  isBlock: boolean;
}

/** Return the formula of a text that is one with its delimiters; null if it is none, such as an amount of money. */
export function formulaOf(text: string): Formula | null {
  const [, block, inline, round, square] = DELIMITED.exec(text) ?? [];
  const tex = block ?? inline ?? round ?? square;
  if (tex === undefined || (inline !== undefined && !MATHEMATICAL.test(tex))) return null;
  return { tex, isBlock: (block ?? square) !== undefined };
}

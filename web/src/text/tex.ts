/** An element of MathML: its name, its children, and its attributes. */
export interface Drawn {
  name: string;
  children: readonly (Drawn | string)[];
  attributes?: Readonly<Record<string, string>>;
}

/** Return a table of names and signs that alternate. */
const paired = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/(\S+) (\S+)/g)].map(([, name, sign]) => [name, sign]));

const GREEK = paired(
  "alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι kappa κ lambda λ " +
    "mu μ nu ν xi ξ pi π rho ρ sigma σ tau τ upsilon υ phi φ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ " +
    "Lambda Λ Xi Ξ Pi Π Sigma Σ Phi Φ Psi Ψ Omega Ω infty ∞ partial ∂ nabla ∇ ell ℓ emptyset ∅ hbar ℏ",
);
const OPERATORS = paired(
  "cdot · times × div ÷ pm ± mp ∓ le ≤ leq ≤ ge ≥ geq ≥ ne ≠ neq ≠ approx ≈ equiv ≡ sim ∼ propto ∝ ll ≪ gg ≫ in ∈ " +
    "notin ∉ subset ⊂ subseteq ⊆ cup ∪ cap ∩ setminus ∖ forall ∀ exists ∃ neg ¬ land ∧ lor ∨ wedge ∧ vee ∨ to → " +
    "rightarrow → leftarrow ← Rightarrow ⇒ Leftrightarrow ⇔ implies ⇒ iff ⇔ mapsto ↦ circ ∘ ast ∗ star ⋆ oplus ⊕ " +
    "otimes ⊗ perp ⊥ parallel ∥ mid | vert | Vert ‖ langle ⟨ rangle ⟩ lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ lbrace { rbrace } " +
    "ldots … cdots ⋯ dots … vdots ⋮ prime ′ degree ° colon :",
);
const LARGE: Record<string, string> = { sum: "∑", prod: "∏", int: "∫", iint: "∬", oint: "∮", bigcup: "⋃", bigcap: "⋂" };
const NAMES =
  "lim max min sup inf arg log ln lg exp sin cos tan cot arcsin arccos arctan sinh cosh tanh det dim gcd Pr".split(" ");
const ACCENTS: Record<string, string> = {
  hat: "^",
  bar: "¯",
  overline: "¯",
  vec: "→",
  tilde: "~",
  dot: "˙",
  ddot: "¨",
};
const WORDS = ["text", "textbf", "textit", "mathrm", "operatorname", "mathit", "mathbf", "mathcal", "mathbb", "mathsf"];
const NOTHING = ["displaystyle", "textstyle", "limits", "nolimits", "big", "Big", "bigg", "Bigg", "nonumber"];
const SPACES: Record<string, string> = {
  quad: "1em",
  qquad: "2em",
  ",": "0.17em",
  ";": "0.28em",
  ":": "0.22em",
  " ": "0.25em",
};
const FENCES: Record<string, readonly [string, string]> = {
  matrix: ["", ""],
  pmatrix: ["(", ")"],
  bmatrix: ["[", "]"],
  vmatrix: ["|", "|"],
  cases: ["{", ""],
  aligned: ["", ""],
  align: ["", ""],
  "align*": ["", ""],
};
const TOKEN = /\\[A-Za-z]+\*?|\\.|\d+(?:[.,]\d+)*|\s+|./gsu;
/** A formula with its delimiters. */
const DELIMITED = /^(?:\$\$([\s\S]+)\$\$|\$([\s\S]+)\$|\\\(([\s\S]+)\\\)|\\\[([\s\S]+)\\\])$/;
/** What an amount of money between dollar signs has not. */
const MATHEMATICAL = /[\\^_={}<>]|^\s*-?[A-Za-z]\w?'?\s*$|[A-Za-z)]\s*[-+*/]|[-+*/]\s*[A-Za-z(]/;

/** Return a formula, written with its delimiters, as MathML; null if it is none, or has what is not known here. */
export function drawnOf(text: string): Drawn | null {
  const [, block, inline, round, square] = DELIMITED.exec(text) ?? [];
  const tex = block ?? inline ?? round ?? square;
  if (tex === undefined || (inline !== undefined && !MATHEMATICAL.test(tex))) return null;
  const isBlock = (block ?? square) !== undefined;
  try {
    const children = new Parser(tex.match(TOKEN) ?? [], isBlock).whole();
    return { name: "math", children, ...(isBlock && { attributes: { display: "block" } }) };
  } catch {
    return null;
  }
}

const leaf = (name: string, text: string, attributes?: Drawn["attributes"]): Drawn => ({
  name,
  children: [text],
  ...(attributes && { attributes }),
});
const row = (children: readonly Drawn[]): Drawn =>
  children.length === 1 ? (children[0] as Drawn) : { name: "mrow", children };

/** Reads the mathematics of TeX. What it does not know is an error: half a formula would be a wrong one. */
class Parser {
  private at = 0;

  constructor(
    private readonly tokens: readonly string[],
    private readonly isBlock: boolean,
  ) {}

  whole(): Drawn[] {
    const out = this.until(() => false);
    if (this.at < this.tokens.length) throw new Error("unbalanced");
    return out;
  }

  private until(isEnd: (token: string) => boolean): Drawn[] {
    const out: Drawn[] = [];
    for (;;) {
      this.skip();
      const token = this.tokens[this.at];
      if (token === undefined || isEnd(token)) return out;
      if (token === "}" || token === "&" || token === "\\\\" || token === "\\end" || token === "\\right")
        throw new Error(token);
      const part = this.scripted();
      if (part) out.push(part);
    }
  }

  /** Read what stands next, with its indices. */
  private scripted(): Drawn | null {
    const base = this.atom();
    let [below, above]: (Drawn | null)[] = [null, null];
    for (;;) {
      this.skip();
      const sign = this.tokens[this.at];
      if (sign === "'") {
        this.at++;
        above = leaf("mo", "′");
      } else if ((sign === "_" && !below) || (sign === "^" && !above)) {
        this.at++;
        if (sign === "_") below = this.argument();
        else above = this.argument();
      } else break;
    }
    if (!below && !above) return base;
    const own = base ?? { name: "mrow", children: [] };
    const isLarge = this.isBlock && own.attributes?.movablelimits !== undefined;
    const [both, under, over] = isLarge ? ["munderover", "munder", "mover"] : ["msubsup", "msub", "msup"];
    if (below && above) return { name: both as string, children: [own, below, above] };
    return below
      ? { name: under as string, children: [own, below] }
      : { name: over as string, children: [own, above as Drawn] };
  }

  private atom(): Drawn | null {
    const token = this.next();
    if (token === "{") {
      const inside = this.until((one) => one === "}");
      this.expect("}");
      return row(inside);
    }
    if (token.startsWith("\\")) return this.command(token.slice(1));
    if (/^\d/.test(token)) return leaf("mn", token);
    if (/^\p{L}$/u.test(token)) return leaf("mi", token);
    if (token === "~") return { name: "mspace", children: [], attributes: { width: "0.25em" } };
    if (token === "#" || token === "%" || token === "$") throw new Error(token);
    return leaf("mo", token === "-" ? "−" : token, /[()[\]|]/.test(token) ? { stretchy: "false" } : undefined);
  }

  private command(name: string): Drawn | null {
    if (name === "frac" || name === "dfrac" || name === "tfrac")
      return { name: "mfrac", children: [this.argument(), this.argument()] };
    if (name === "binom")
      return row([
        leaf("mo", "("),
        { name: "mfrac", children: [this.argument(), this.argument()], attributes: { linethickness: "0" } },
        leaf("mo", ")"),
      ]);
    if (name === "sqrt") return this.root();
    if (name === "left") return this.fenced();
    if (name === "begin") return this.table();
    if (WORDS.includes(name)) return leaf(name.startsWith("text") ? "mtext" : "mi", this.words());
    if (NAMES.includes(name))
      return leaf("mi", name, /^(lim|max|min|sup|inf)$/.test(name) ? { movablelimits: "true" } : undefined);
    if (name in LARGE)
      return leaf("mo", LARGE[name] as string, { movablelimits: name.endsWith("int") ? "false" : "true" });
    if (name in ACCENTS)
      return {
        name: "mover",
        children: [this.argument(), leaf("mo", ACCENTS[name] as string)],
        attributes: { accent: "true" },
      };
    if (name in GREEK) return leaf("mi", GREEK[name] as string);
    if (name in OPERATORS) return leaf("mo", OPERATORS[name] as string);
    if (name in SPACES) return { name: "mspace", children: [], attributes: { width: SPACES[name] as string } };
    if (NOTHING.includes(name) || name === "!") return null;
    if (/^[{}%$#&_|]$/.test(name)) return leaf("mo", name === "|" ? "‖" : name);
    throw new Error(name);
  }

  private root(): Drawn {
    this.skip();
    if (this.tokens[this.at] !== "[") return { name: "msqrt", children: [this.argument()] };
    this.at++;
    const index = row(this.until((one) => one === "]"));
    this.expect("]");
    return { name: "mroot", children: [this.argument(), index] };
  }

  private fenced(): Drawn {
    const left = this.fence();
    const inside = this.until((one) => one === "\\right");
    this.expect("\\right");
    return row([left, ...inside, this.fence()]);
  }

  private fence(): Drawn {
    const token = this.next();
    const name = token.replace(/^\\/, "");
    return leaf("mo", token === "." ? "" : (OPERATORS[name] ?? name), { fence: "true", stretchy: "true" });
  }

  private table(): Drawn {
    const name = this.words();
    const fences = FENCES[name];
    if (!fences) throw new Error(name);
    const rows: Drawn[] = [];
    let cells: Drawn[] = [];
    for (;;) {
      const inside = this.until((one) => one === "&" || one === "\\\\" || one === "\\end");
      cells.push({ name: "mtd", children: inside });
      const end = this.next();
      if (end === "&") continue;
      rows.push({ name: "mtr", children: cells });
      cells = [];
      if (end === "\\end") break;
    }
    if (this.words() !== name) throw new Error(name);
    const table: Drawn = { name: "mtable", children: rows };
    const around = fences.map((sign) => leaf("mo", sign, { fence: "true", stretchy: "true" })) as [Drawn, Drawn];
    return fences[0] ? row([around[0], table, around[1]]) : table;
  }

  private argument(): Drawn {
    this.skip();
    return this.atom() ?? { name: "mrow", children: [] };
  }

  /** Read an argument as words. */
  private words(): string {
    this.skip();
    this.expect("{");
    const begin = this.at;
    while (this.tokens[this.at] !== undefined && this.tokens[this.at] !== "}") this.at++;
    const words = this.tokens.slice(begin, this.at).join("");
    this.expect("}");
    if (/[\\{$]/.test(words)) throw new Error(words);
    return words;
  }

  private skip(): void {
    while (/^\s/.test(this.tokens[this.at] ?? "")) this.at++;
  }

  private next(): string {
    this.skip();
    const token = this.tokens[this.at++];
    if (token === undefined) throw new Error("the end");
    return token;
  }

  private expect(wanted: string): void {
    if (this.next() !== wanted) throw new Error(wanted);
  }
}

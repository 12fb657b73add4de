/**
 * Spans come from Python, which counts code points; JavaScript counts UTF-16 units, two for each character beyond the
 * first 65,536. Without this, a highlight behind an emoji stands one character off.
 */
export class CodePoints {
  /** Code point numbers of the characters that are two units long, ascending. */
  private readonly pairs: number[] = [];
  /** The number of code points in the text. */
  readonly length: number;

  constructor(readonly text: string) {
    for (const found of text.matchAll(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g)) {
      this.pairs.push(found.index - this.pairs.length);
    }
    this.length = text.length - this.pairs.length;
  }

  /** Return the offset of a code point in a JavaScript string, clamped to the text. */
  unit(point: number): number {
    const within = Math.min(Math.max(point, 0), this.length);
    return within + this.before(within);
  }

  /** Return how many two-unit characters precede a code point. */
  private before(point: number): number {
    let low = 0;
    let high = this.pairs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.pairs[middle] as number) < point) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  slice(start: number, end: number): string {
    return this.text.slice(this.unit(start), this.unit(end));
  }
}

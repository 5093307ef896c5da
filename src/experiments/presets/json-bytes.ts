const COMMA = 0x2c;
const ZERO = 0x30;
const ENCODER = new TextEncoder();

/**
 * Writes JSON directly as bytes. Rasters are long lists of small integers, and a string in between would take several times
 * as long.
 */
export class JsonBytes {
  #bytes: Uint8Array<ArrayBuffer>;
  #length = 0;

  constructor(expectedBytes: number) {
    this.#bytes = new Uint8Array(expectedBytes);
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#length;
  }

  /** Appends text that is JSON already. */
  text(json: string): void {
    this.#ensure(3 * json.length);
    this.#length += ENCODER.encodeInto(json, this.#bytes.subarray(this.#length)).written;
  }

  /** Appends the elements [from, to) of a list of unsigned integers below 2^31, separated by commas. */
  integers(values: Uint16Array | Uint32Array, from: number, to: number): void {
    this.#ensure(11 * (to - from));
    const bytes = this.#bytes;
    let at = this.#length;
    for (let i = from; i < to; i++) {
      if (i > from) bytes[at++] = COMMA;
      let value = values[i]! | 0;
      let end = at + decimalDigits(value);
      at = end;
      do {
        const quotient = (value / 10) | 0;
        bytes[--end] = ZERO + value - 10 * quotient;
        value = quotient;
      } while (value > 0);
    }
    this.#length = at;
  }

  /** The bytes written so far, in a buffer of their own that can be transferred. */
  finish(): Uint8Array<ArrayBuffer> {
    return Uint8Array.from(this.#bytes.subarray(0, this.#length));
  }

  #ensure(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(2 * this.#bytes.length, this.#length + more));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}

function decimalDigits(value: number): number {
  let digits = 1;
  for (let power = 10; digits < 10 && value >= power; power *= 10) digits++;
  return digits;
}

const COMMA = 0x2c;
const ZERO = 0x30;

/**
 * Writes JSON straight to the bytes that will be sent. Rasters are long lists of small integers; turning them
 * into a string first, and that into bytes, costs several times as much.
 */
export class JsonBytes {
  #bytes: Buffer;
  #length = 0;

  constructor(expectedBytes: number) {
    this.#bytes = Buffer.allocUnsafe(expectedBytes);
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#length;
  }

  /** Appends text that is JSON already. */
  text(json: string): void {
    this.#ensure(3 * json.length);
    this.#length += this.#bytes.write(json, this.#length);
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
    const grown = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#length + more));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}

function decimalDigits(value: number): number {
  let digits = 1;
  for (let power = 10; digits < 10 && value >= power; power *= 10) digits++;
  return digits;
}

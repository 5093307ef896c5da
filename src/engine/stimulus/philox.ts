/**
 * Philox4x32-10, the counter-based generator of Random123 (Salmon et al. 2011, doi:10.1145/2063384.2063405).
 * A block is a function only of its counter and key, so neither the order of drawing nor the worker can change it.
 */
const MULTIPLIER_0 = 0xd2511f53;
const MULTIPLIER_1 = 0xcd9e8d57;
const WEYL_0 = 0x9e3779b9;
const WEYL_1 = 0xbb67ae85;
const ROUNDS = 10;
/** A local copy: in Jest's sandbox, each access to a global takes longer than a whole round. */
const { imul } = Math;

/**
 * Writes the four 32-bit words of one block into `out`.
 * @param out has length 4. The counter is c0 to c3 and the key k0, k1, all taken modulo 2^32
 */
export function philox4x32(
  out: Uint32Array,
  c0: number,
  c1: number,
  c2: number,
  c3: number,
  k0: number,
  k1: number,
): void {
  for (let round = 0; round < ROUNDS; round++) {
    const low0 = imul(MULTIPLIER_0, c0);
    const low1 = imul(MULTIPLIER_1, c2);
    const high0 = multiplyHigh(MULTIPLIER_0 & 0xffff, MULTIPLIER_0 >>> 16, c0);
    const high1 = multiplyHigh(MULTIPLIER_1 & 0xffff, MULTIPLIER_1 >>> 16, c2);
    c0 = high1 ^ c1 ^ k0;
    c1 = low1;
    c2 = high0 ^ c3 ^ k1;
    c3 = low0;
    k0 = (k0 + WEYL_0) | 0;
    k1 = (k1 + WEYL_1) | 0;
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}

/**
 * The upper 32 bits of the product of two unsigned 32-bit numbers; the first is given as its halves. No partial sum
 * reaches 2^32, so 32-bit integers suffice. Doubles would take 50 % longer.
 */
function multiplyHigh(aLow: number, aHigh: number, b: number): number {
  const bLow = b & 0xffff;
  const bHigh = b >>> 16;
  const upper = (imul(aHigh, bLow) + (imul(aLow, bLow) >>> 16)) | 0;
  const lower = (imul(aLow, bHigh) + (upper & 0xffff)) | 0;
  return (imul(aHigh, bHigh) + (upper >>> 16) + (lower >>> 16)) | 0;
}

/** Each purpose of random numbers has a counter space of its own, so no two use the same numbers. */
export const PHILOX_STREAM = {
  stimulus: 1,
  synthesis: 2,
  shuffle: 3,
  background: 4,
  jitter: 5,
  matched: 6,
  signs: 7,
  counts: 8,
} as const;

/** The random words of one key and stream in sequence, for callers that have no index to draw by. */
export class PhiloxSequence {
  readonly #block = new Uint32Array(4);
  #blockNumber = 0;
  #used = 4;

  /**
   * @param key0 usually the seed of the request
   * @param key1 distinguishes the sequences of one seed, e.g. the index of a neuron in its population
   * @param part distinguishes the sequences of one key
   */
  constructor(
    private readonly key0: number,
    private readonly key1: number,
    private readonly stream: number,
    private readonly part = 0,
  ) {}

  /** The next word, 0 to 2^32 - 1. */
  nextUint32(): number {
    if (this.#used === 4) {
      philox4x32(this.#block, this.#blockNumber++, this.part, 0, this.stream, this.key0, this.key1);
      this.#used = 0;
    }
    return this.#block[this.#used++]!;
  }

  /**
   * Uniform in 0 to limit - 1, without bias (Lemire 2019, doi:10.1145/3230636, in its rejecting form).
   * @param limit 1 to 2^32 - 1
   */
  nextBelow(limit: number): number {
    // The remainder of unsigned integers is far faster than that of doubles.
    const divisor = limit >>> 0;
    let word: number;
    do {
      word = this.nextUint32();
      // Words below 2^32 mod limit are rejected. As that is below the limit, larger words need no division.
    } while (word < divisor && word < (-divisor >>> 0) % divisor);
    return (word >>> 0) % divisor;
  }
}

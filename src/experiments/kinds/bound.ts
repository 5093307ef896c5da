import { invalid, type JsonPath } from '../../engine/schema/json-path.js';

/** A limit on a number that many parts of a document add to. */
export class Bound {
  #used = 0;

  /** @param says the limit as a sentence without its full stop */
  constructor(
    private readonly maximum: number,
    private readonly says: string,
  ) {}

  /** @throws CodedError INVALID_PARAMETER if the sum exceeds the limit */
  add(count: number, path: JsonPath): void {
    this.#used += count;
    if (this.#used > this.maximum) throw invalid(path, `${this.says}, got more.`);
  }
}

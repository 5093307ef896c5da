import { invalid, type JsonPath } from '../../schema/json-path.js';

/** Counts something of which a document may have only so much. */
export class Bound {
  #used = 0;

  /** @param says what the document may have, as a sentence without its end */
  constructor(
    private readonly maximum: number,
    private readonly says: string,
  ) {}

  /** @throws CodedError INVALID_PARAMETER where it is too much */
  add(count: number, path: JsonPath): void {
    this.#used += count;
    if (this.#used > this.maximum) throw invalid(path, `${this.says}, got more.`);
  }
}
